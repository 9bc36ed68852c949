/** `npm run bench`: the table, and a run of a benchmark that takes no time. */

import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'tap'
import { pageOf, tableOf } from '../../bench/report.ts'
import { runToEnd } from '../support/run-program.ts'

const root = resolve(import.meta.dirname, '..', '..')
const bench = join(root, 'bench')
const run = (...words: string[]) =>
  runToEnd(process.execPath, [join(bench, 'run.ts'), ...words], { folder: root, environment: process.env })

test('the table has a row for each figure, and marks missed limits and skipped runs', async t => {
  const figures = {
    'readings a second': { ratio: 0.31, atLeast: 0.2, ratios: { min: 0.3, median: 0.31, max: 0.32 }, ok: true },
    p99: { ratio: 12, atMost: 10, ok: false },
    'all are stored': { ok: true },
  }
  const result = { seconds: 1, exitStatus: 1 }
  const noise = { property: 'white noise', rate: 0.05, atMost: 0.1, ok: true }
  const table = tableOf([
    { ...result, name: 'put', lines: [{ bench: 'put', figures }] },
    { ...result, name: 'properties', exitStatus: 0, lines: [noise] },
    { ...result, name: 'latest', lines: ['no result'] },
    { ...result, name: 'mqtt', lines: [{ bench: 'mqtt', figures: { p99: { ratio: 3, ok: true } } }] },
    { ...result, name: 'stats', exitStatus: undefined, skipped: 'needs --python', lines: [] },
  ])
  const lines = table.trimEnd().split('\n')
  const rows = lines.map(line => line.split('|').slice(1, -1)).map(cells => cells.map(cell => cell.trim()))
  t.strictSame(rows.slice(2), [
    ['put', 'readings a second', '0.31', '0.3 … 0.32', '≥ 0.2', 'ok'],
    ['put', 'p99', '12', '', '≤ 10', 'MISSED'],
    ['put', 'all are stored', '', '', '', 'ok'],
    ['properties', 'white noise', '0.05', '', '≤ 0.1', 'ok'],
    ['latest', 'exited with status 1 and printed no result', '', '', '', 'FAILED'],
    ['mqtt', 'p99', '3', '', '', 'ok'],
    ['mqtt', 'exited with status 1', '', '', '', 'FAILED'],
    ['stats', 'skipped', '', '', 'needs --python', ''],
  ])
  t.equal(new Set(lines.map(line => line.length)).size, 1, 'the columns are aligned')
})

test('the page names the source of the figures', async t => {
  const surroundings = { hardware: '2 x Processor', questdb: '9.4.3', postgres: '18.1.0', changed: true, load: 0.2 }
  const results = [
    { name: 'put', seconds: 61, exitStatus: 0, lines: [{ bench: 'put', figures: { p99: { ratio: 3, ok: true } } }] },
  ]
  const page = pageOf({ ...surroundings, commit: 'abcdef1234567890', date: '2026-11-22T10:00:00.000Z' }, results)
  t.match(
    page,
    'on 2026-11-22: 2 x Processor, QuestDB 9.4.3, PostgreSQL 18.1.0, commit\nabcdef1234 with changes, 1 min, load before it 0.2.',
  )
  t.ok(page.endsWith(tableOf(results)))
})

test('every benchmark with limits is in the run', async t => {
  const source = readFileSync(join(bench, 'run.ts'), 'utf8')
  const files = readdirSync(bench).filter(file => file.endsWith('.ts') && file !== 'bounds.ts')
  const withLimits = files.filter(file => readFileSync(join(bench, file), 'utf8').includes('bounds.conclude('))
  t.ok(withLimits.length > 8)
  t.strictSame(
    withLimits.filter(file => !source.includes(`'${file.slice(0, -'.ts'.length)}'`)),
    [],
  )
})

test('one benchmark runs with its arguments', async t => {
  const { status, stdout, stderr } = await run('properties', '--runs', '1', '--only', 'nothing has this name')
  t.equal(status, 1, 'nothing was measured')
  t.match(stderr, /^properties: \d+ s, exit status 0$/m)
  t.match(stdout, 'printed no result')
  for (const words of [['--only', 'put,no-such'], ['no-such']]) {
    t.match(await run(...words), { status: 2, stderr: 'there is no benchmark no-such; there are put, ' })
  }
})
