/** The limit of annotations, on a real PostgreSQL. Permissions: `test/service/annotations.test.ts`. */

import t from 'tap'
import { bounds } from '../../auth/annotations/annotation.ts'
import { createAnnotations } from '../../auth/annotations/annotations.ts'
import { NewDevice } from '../../auth/devices/device.ts'
import { openDevices } from '../../auth/devices/devices.ts'
import { closing, nowhere, silentLog, startDatabases } from '../support/databases.ts'

t.test('a device has a limited number of annotations', async t => {
  const { store } = await startDatabases(t, nowhere)
  const pool = store.postgres
  const devices = closing(t, await openDevices({ pool, now: Date.now, log: silentLog, graceMs: 0 }))
  await devices.add([NewDevice.parse({ name: 'attic' })], 'test')
  const { number } = devices.get('attic') ?? { number: 0 }
  await pool.query(
    `INSERT INTO annotations (device, from_at, text, written_at)
     SELECT $1::int, now(), 'x', now() FROM generate_series(1, $2::int)`,
    [number, bounds.perDevice - 1],
  )
  const annotations = createAnnotations({ pool, nowMs: Date.now })
  const annotation = { device: 'attic', from: '2026-05-04T10:00:00Z', to: null, text: 'filter changed' }
  const add = (device: number | null) => annotations.add(annotation, device, { account: undefined, actor: 't' })
  t.match(await add(number), { ok: true })
  t.match(await add(number), { ok: false, code: 'TOO_MANY_ANNOTATIONS' })
  t.match(await add(null), { ok: true })
})
