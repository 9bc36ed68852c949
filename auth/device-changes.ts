/** The changes of the registry: committed in PostgreSQL, then made in memory, then answered. */

import { type Changed, type CommitOptions, createCommits, type Refusal } from './commits.ts'
import type { DeviceChange, DeviceDetails, IssuedPassword, NewDevice, Rotated } from './device.ts'
import type { DeviceMemory } from './device-memory.ts'
import * as sql from './device-sql.ts'
import { digestOf, makePasswords } from './password.ts'

export interface DeviceChanges {
  /** All or none. `by` is who asks, for the audit. */
  add(devices: readonly NewDevice[], by: string): Promise<Changed<IssuedPassword[]>>
  change(name: string, change: DeviceChange, by: string): Promise<Changed<DeviceDetails>>
  /** A new password beside the old one for the grace time, or at once instead of it. */
  rotate(name: string, endOld: boolean, by: string): Promise<Changed<Rotated>>
  /** By number, so that a repeated call never meets a newer device of the same name. */
  remove(number: number, by: string): Promise<Changed<undefined>>
}

export interface DeviceChangesOptions extends CommitOptions {
  now: () => number
  graceMs: number
  devicesMax: number
}

export function createDeviceChanges(options: DeviceChangesOptions): DeviceChanges {
  const { pool, memory, now, graceMs, devicesMax } = options
  const { inTurn, commit } = createCommits(options)

  async function addNow(devices: readonly NewDevice[], by: string): Promise<Changed<IssuedPassword[]>> {
    const refusal = refuseNames(memory, devices)
    if (refusal !== undefined) return refusal
    if (memory.size() + devices.length > devicesMax) return { ok: false, code: 'REGISTRY_FULL' }
    const passwords = makePasswords(devices.length)
    const issued = devices.map(({ name }, at) => ({ device: name, password: passwords[at] ?? '' }))
    const issues = devices.map((device, at) => ({ device, digest: digestOf(issued[at]?.password ?? '') }))
    for (const row of await sql.insertDevices(pool, issues, by, now())) memory.take(row)
    return { ok: true, value: issued }
  }

  function change(name: string, wanted: DeviceChange, by: string): Promise<Changed<DeviceDetails>> {
    const names = wanted.name === undefined ? [] : [wanted.name]
    return inTurn(names, () =>
      commit(
        memory.get(name),
        record => sql.updateSettings(pool, record.number, wanted, by),
        record => record.details(now()),
      ),
    )
  }

  function rotate(name: string, endOld: boolean, by: string): Promise<Changed<Rotated>> {
    const [password = ''] = makePasswords(1)
    const graceEndsMs = now() + graceMs
    return inTurn([], () =>
      commit(
        memory.get(name),
        record => {
          const keep = endOld ? undefined : record.digestToKeep(now())
          return sql.updateCredential(pool, record.number, { keep, digest: digestOf(password), graceEndsMs }, by)
        },
        record => ({
          device: record.name,
          password,
          old_password_until: endOld ? null : new Date(graceEndsMs).toISOString(),
        }),
      ),
    )
  }

  function remove(number: number, by: string): Promise<Changed<undefined>> {
    return inTurn([], () =>
      commit(
        memory.byNumber(number),
        record => sql.markRemoved(pool, record.number, by, now()),
        () => undefined,
      ),
    )
  }

  const add = (devices: readonly NewDevice[], by: string) =>
    inTurn(
      devices.map(({ name }) => name),
      () => addNow(devices, by),
    )
  return { add, change, rotate, remove }
}

/** Names that cannot be given: twice in the same request, or to a device that is there already. */
function refuseNames(memory: DeviceMemory, devices: readonly NewDevice[]): Refusal | undefined {
  const once = new Set<string>()
  const twice = new Set<string>()
  for (const { name } of devices) {
    if (once.has(name)) twice.add(name)
    once.add(name)
  }
  if (twice.size > 0) return { ok: false, code: 'NAME_TWICE', names: [...twice] }
  const taken = [...once].filter(name => memory.get(name) !== undefined)
  return taken.length > 0 ? { ok: false, code: 'NAME_TAKEN', names: taken } : undefined
}
