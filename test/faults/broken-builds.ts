/**
 * Checks that the harness detects a loss. Each copy of the source is broken in one place and must be detected within ten cycles. A
 * snippet missing from the source fails the run. Update this list then.
 */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pointsTable, pointsTableSql, readingsTable, readingsTableSql } from '../../store/tables.ts'
import { type Change, copySource } from './copy-source.ts'
import { eachCycle, type Harness, type Run } from './experiment.ts'
import { violationNames } from './oracle.ts'
import { clockAheadOfRetention } from './rows/clocks.ts'
import { eraseUnsynced } from './rows/erase.ts'
import { damageJournal } from './rows/journal.ts'
import { dieAtPoints, killService } from './rows/kills.ts'
import { suspendTable } from './rows/questdb.ts'
import { createTally } from './tally.ts'

export interface BrokenBuild extends Change {
  name: string
  also?: Change
  /** One cycle should detect the broken build. */
  cycle: Run<Harness>
}

export const changesOf = (build: BrokenBuild): Change[] => [build, ...(build.also === undefined ? [] : [build.also])]

const cyclesMax = 10
const readTime = 'view.getFloat64(offset + offsetOf.timeUs, true)'

/** Some connections of this network are slower than others. */
const lateNetwork = eachCycle({ perSecond: 500 }, async bed => {
  await sleep(300)
  Object.assign(bed.proxy.trouble, { latencyMs: 1200, latencyChance: 0.5 })
  bed.proxy.cut()
  await sleep(6000)
  await bed.load.stop()
  await sleep(5000)
  bed.proxy.calm()
  await sleep(1000)
})

export const brokenBuilds: BrokenBuild[] = [
  {
    name: 'acknowledged before the sync',
    file: 'ingest/journal/segment-writer.ts',
    from: '      segment.file.write(bytes, segment.length)\n',
    // Each group is synced when the next group arrives.
    to: '      segment.file.sync()\n      segment.file.write(bytes, segment.length)\n',
    also: {
      file: 'ingest/journal/segment-writer.ts',
      from:
        '    try {\n      segment.file.sync()\n    } catch (error) {\n' +
        '      return this.#abandon(segment, bytes.length, error)\n    }\n    segment.length += bytes.length\n',
      to: '    segment.length += bytes.length\n',
    },
    // Only the second of two deaths loses unsynced data: a kill alone leaves the page cache intact.
    cycle: (harness, tally, seed) => dieAtPoints(harness, tally, seed, 2, ['after-ack']),
  },
  {
    name: 'no check sum',
    file: 'ingest/journal/group.ts',
    from: 'if (crc32(bytes.subarray(offset + 8, offset + end)) !== view.getUint32(4, true)) return undefined',
    to: '',
    cycle: (harness, tally, seed) => damageJournal(harness, tally, seed, 1, ['flip in the middle']),
  },
  {
    name: 'a table without DEDUP',
    file: 'store/tables.ts',
    from: `DOUBLE\`).join(',\\n  ')}\n) TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(ts, device)`,
    to: `DOUBLE\`).join(',\\n  ')}\n) TIMESTAMP(ts) PARTITION BY DAY WAL`,
    also: { file: 'store/questdb/questdb-tables.ts', from: 'if (is !== wanted) {', to: "if (is === 'missing') {" },
    cycle: (harness, tally, seed) => dieAtPoints(harness, tally, seed, 1, ['after-taken']),
  },
  {
    name: 'the last point of a request is not stored',
    file: 'ingest/import/points-body.ts',
    from: 'records: encodePoints(points)',
    to: 'records: encodePoints(points.length > 1 ? points.slice(0, -1) : points)',
    cycle: killService,
  },
  {
    name: 'trimmed at the 204',
    file: 'ingest/forwarder/apply-tracker.ts',
    from: "if (states.some(({ writerTxn }, table) => writerTxn < (txns[table] ?? 0))) return 'nothing'",
    to: '',
    cycle: suspendTable,
  },
  {
    name: 'stamped again when it is sent',
    file: 'ingest/forwarder/write-request.ts',
    from: `const timeUs = ${readTime}\n    const frame`,
    to: `const timeUs = (${readTime} % 1000 === 0 ? ${readTime} : (view.constructor.stamp = Math.max((view.constructor.stamp ?? 0) + 2, Date.now() * 1000 + 1)))\n    const frame`,
    cycle: (harness, tally, seed) => dieAtPoints(harness, tally, seed, 1, ['after-taken']),
  },
  {
    name: 'several requests of one device in flight',
    file: 'ingest/forwarder/delivery.ts',
    from: 'const answer = await connection.write(encoder.body(request))',
    // The request is retried over any connection, without an await.
    to:
      'const whole = Buffer.concat(Array.from(encoder.body(request).pieces(), piece => Buffer.from(piece)))\n' +
      'const flying = { length: whole.length, pieces: () => [whole] }, turn = (this.flights = (this.flights ?? 0) + 1)\n' +
      'const over = this.#options.connections[turn % this.#options.connections.length]\n' +
      'const fly = async () => { while (!this.#options.isClosed()) { const got = await over.write(flying); if (got.kind === "stored") break; await this.#options.sleep(100) } }\n' +
      'void fly()\nconst answer = { kind: "stored" }',
    cycle: lateNetwork,
  },
  {
    name: 'an erase without a tombstone',
    file: 'ingest/journal/tombstones.ts',
    from: 'return position < (this.#ends.get(seriesNumber) ?? 0)',
    to: 'return false',
    // A second erase must not remove the returned rows by chance.
    also: { file: 'service/lifecycle/erasure/erase-jobs.ts', from: 'doubts++', to: '' },
    cycle: eraseUnsynced,
  },
  {
    name: 'days expire by the clock alone',
    file: 'service/lifecycle/retention/due-days.ts',
    from: '  const endMs = startMs + dayMs\n',
    to: '  if (steadyMs > 0) return { ...none, expireBeforeMs: steadyMs }\n  const endMs = startMs + dayMs\n',
    cycle: clockAheadOfRetention,
  },
]

export async function runBrokenBuilds(
  harness: Harness,
  seed: number,
  builds: readonly BrokenBuild[],
): Promise<boolean> {
  const missed: string[] = []
  for (const [index, build] of builds.entries()) {
    const source = join(harness.folder, `broken-build-${index}`)
    copySource(harness.source, source, changesOf(build))
    // Rows stored by one broken build would disturb the next build.
    await renewTables(harness, build.name.includes('DEDUP'))
    const found = await detect({ ...harness, source, say: () => undefined }, build, seed + index * 100)
    harness.say(`broken build, ${build.name}: ${found ?? `NOT DETECTED in ${cyclesMax} cycles`}`)
    if (found === undefined) missed.push(build.name)
  }
  await renewTables(harness, false)
  return missed.length === 0
}

async function detect(harness: Harness, { cycle }: BrokenBuild, seed: number): Promise<string | undefined> {
  for (let count = 1; count <= cyclesMax; count++) {
    const tally = createTally(`broken-${seed}`)
    try {
      await cycle(harness, tally, seed + count, 1)
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
    }
    const found = violationNames
      .filter(name => tally.violations[name] > 0)
      .map(name => `${tally.violations[name]} ${name}`)
    if (found.length > 0) return `detected in cycle ${count}: ${found.join(', ')}`
  }
  return undefined
}

/** `without`: the broken build creates the tables at its start. */
async function renewTables({ databases }: Harness, without: boolean): Promise<void> {
  for (const [name, create] of [
    [readingsTable, readingsTableSql],
    [pointsTable, pointsTableSql],
  ]) {
    await databases.sql(`DROP TABLE IF EXISTS ${name}`)
    if (!without && create !== undefined) await databases.sql(create)
  }
}
