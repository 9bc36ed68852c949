/** The fetch of QuestDB: once, checked, and safe against a concurrent one. */

import { copyFileSync, mkdirSync, readdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { tryKernelLock } from '../../store/directory-lock.ts'
import { type JarOptions, reportFetch } from '../../store/maven/maven-fetch.ts'
import { questdbJar, questdbVersion } from '../../store/questdb/java.ts'
import { testCacheDirectory } from '../support/cache-directory.ts'
import { silentLog, type TestHooks, temporaryFolder } from '../support/databases.ts'
import { withMaven as startWithMaven } from '../support/maven.ts'
import { until } from '../support/processes.ts'

const withMaven = (t: TestHooks, script: string | undefined) => startWithMaven(t, `questdb/${questdbVersion}`, script)

function realJar(): Promise<string> {
  return questdbJar({ cacheDirectory: testCacheDirectory(), environment: process.env, log: silentLog })
}

test("Maven's jar is the pinned one, fetched once", async t => {
  const jar = await realJar()
  const cacheDirectory = testCacheDirectory()
  t.equal(jar, join(cacheDirectory, 'questdb', '9.3.4', 'questdb.jar'))
  t.equal(await questdbJar({ ...withMaven(t, undefined), cacheDirectory }), jar, 'without Maven now')
})

test('without Maven, after a failed download and with another digest, a sentence has the remedy', async t => {
  const refusals: [script: string | undefined, message: RegExp][] = [
    [
      undefined,
      /^QuestDB 9\.3\.4 is downloaded with Maven, .* no "mvn" on PATH: install it .* or set QUESTDB_HTTP and/,
    ],
    [
      'echo "[ERROR] Network is unreachable"; exit 1',
      /could not download .* \(Network is unreachable\): check the net/,
    ],
    [
      'mkdir -p "$folder"; echo something else > "$folder/questdb.jar"',
      /has the SHA-256 \w{64}, not 939bc53a\w+, and was discarded/,
    ],
  ]
  for (const [script, message] of refusals) {
    const options = withMaven(t, script)
    await t.rejects(questdbJar(options), { name: 'StartError', message })
    t.strictSame(readdirSync(options.folder), ['fetch.lock'], 'nothing is left in the cache')
  }
})

function memoryLog() {
  const messages: string[] = []
  const keep = (_fields: object, message: string) => messages.push(message)
  return { messages, log: { info: keep, warn: keep, error: keep } as unknown as JarOptions['log'] }
}

test('a fetch logs its start, its progress and its end', async t => {
  const { messages, log } = memoryLog()
  const go = join(temporaryFolder(t), 'go')
  const printed = 'Downloaded from central: https://repo.example/a.jar (1.5 MB at 5.9 kB/s)'
  const wait = `until [ -e ${go} ]; do sleep 0.05; done`
  const fetch = `mkdir -p "$folder"; cp "${await realJar()}" "$folder/questdb.jar"`
  const options = withMaven(t, `echo '${printed}'; printf 'Downloaded from central: half a '; ${wait}; ${fetch}`)
  const fetched = questdbJar({ ...options, log, progressIntervalMs: 20 })
  await until('progress is logged', () => messages.some(message => message.startsWith('downloading QuestDB: 1.5 MB,')))
  writeFileSync(go, '')
  await fetched
  t.match(messages[0], /^downloading QuestDB 9\.3\.4 with Maven, .*first start only/)
  t.equal(messages.at(-1), 'QuestDB downloaded')
})

test("a wait for another process's fetch is logged", async t => {
  const { messages, log } = memoryLog()
  const options = withMaven(t, `mkdir -p "$folder"; cp "${await realJar()}" "$folder/questdb.jar"`)
  mkdirSync(options.folder, { recursive: true })
  const release = tryKernelLock(join(options.folder, 'fetch.lock'))
  const fetched = questdbJar({ ...options, log, progressIntervalMs: 20 })
  const waits = () => messages.filter(message => message === 'waiting for another process to download QuestDB')
  await until('it is logged again and again', () => waits().length >= 2)
  release?.()
  await fetched
})

test('the jar that grows in the local repository of Maven counts', async t => {
  const { messages, log } = memoryLog()
  const jarFolder = temporaryFolder(t)
  writeFileSync(join(jarFolder, 'questdb-9.3.4.jar.part'), Buffer.alloc(2_000_000))
  writeFileSync(join(jarFolder, 'questdb-9.3.4.jar.part.lock'), '')
  const progress = reportFetch({ name: 'QuestDB', log, intervalMs: 20, jarFolder })
  progress.onOutput('[INFO] Downloaded from central: https://repo.example/(a).pom (500 kB at 1 MB/s)\nno size\n')
  await until('it is logged', () => messages.length > 0)
  progress.stop()
  t.match(messages.at(-1), /^downloading QuestDB: 2\.5 MB, \d+ s$/)
})

test('concurrent fetches become one, which removes leftovers of a killed one', async t => {
  const count = join(temporaryFolder(t), 'count')
  const script = `echo once >> ${count}; mkdir -p "$folder"; sleep 0.2; cp "${await realJar()}" "$folder/questdb.jar"`
  const options = withMaven(t, script)
  mkdirSync(join(options.folder, '.fetch-aa'), { recursive: true })
  writeFileSync(join(options.folder, '.fetch-aa', 'questdb.jar'), 'half')
  const jars = await Promise.all([questdbJar(options), questdbJar(options)])
  t.equal(jars[0], jars[1])
  t.strictSame(readdirSync(options.folder).sort(), ['fetch.lock', 'questdb.jar', 'questdb.jar.verified'])
  t.equal(readFileSync(count, 'utf8'), 'once\n')
})

test('a jar that was changed in the cache is fetched again, one that was only touched is not', async t => {
  const real = await realJar()
  const options = withMaven(t, 'exit 1')
  mkdirSync(options.folder, { recursive: true })
  const jar = join(options.folder, 'questdb.jar')
  copyFileSync(real, jar)
  t.equal(await questdbJar(options), jar, 'an existing jar is checked and taken')
  utimesSync(jar, 1, 1)
  t.equal(await questdbJar(options), jar)
  truncateSync(jar, 1000)
  await t.rejects(questdbJar(options), { message: /could not download/ })
})

test('a cache that cannot be written is reported with the remedy', async t => {
  const options = withMaven(t, undefined)
  writeFileSync(options.cacheDirectory, 'a file where a folder should be')
  await t.rejects(questdbJar(options), {
    name: 'StartError',
    message: /cannot be used \(.+\): set XDG_CACHE_HOME to a writable directory/,
  })
})
