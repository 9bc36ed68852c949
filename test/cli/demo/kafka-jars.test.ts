/** The fetch of Kafka consists of many jars, all of which are required. */

import { readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { kafkaJars } from '../../../cli/demo/cluster/kafka-jars.ts'
import { testCacheDirectory } from '../../support/cache-directory.ts'
import { silentLog } from '../../support/databases.ts'
import { withMaven } from '../../support/maven.ts'

const place = 'kafka/4.4.0'

function realJars(): Promise<string> {
  return kafkaJars({ cacheDirectory: testCacheDirectory(), environment: process.env, log: silentLog })
}

test("Maven's jars are the pinned ones, fetched once", async t => {
  const folder = await realJars()
  t.equal(folder, join(testCacheDirectory(), place, 'lib'))
  t.equal(readdirSync(folder).length, 45)
  const withoutMaven = { ...withMaven(t, place, undefined), cacheDirectory: testCacheDirectory() }
  t.equal(await kafkaJars(withoutMaven), folder)
})

test('with a jar too many, too few or another one they are fetched again', async t => {
  const options = withMaven(t, place, `mkdir -p "$folder"; cp "${await realJars()}"/* "$folder"`)
  const lib = await kafkaJars(options)
  const [first = ''] = readdirSync(lib)
  for (const change of [
    () => writeFileSync(join(lib, 'other.jar'), ''),
    () => rmSync(join(lib, first)),
    () => truncateSync(join(lib, first), 10),
  ]) {
    change()
    const withoutMaven = { ...withMaven(t, place, undefined), cacheDirectory: options.cacheDirectory }
    await t.rejects(kafkaJars(withoutMaven), { message: /there is no "mvn"/ }, 'they do not count')
    await kafkaJars(options)
    t.equal(readdirSync(lib).length, 45)
  }
  t.strictSame(readdirSync(options.folder).sort(), ['fetch.lock', 'lib', 'lib.verified'])
})
