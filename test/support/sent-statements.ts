/** The statements that a QuestDB gets, as it records them itself, and the texts of the product that have a LIMIT. */

import { appendFileSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { parse } from 'acorn'
import pg from 'pg'
import { questdbRoot } from '../../store/questdb/questdb-server.ts'
import { managedSetting } from './ask-questdb.ts'
import { until } from './processes.ts'
import { sourceFiles } from './source-regexps.ts'

interface TracedStatements {
  /** Each once, but for the numbers in it. */
  texts(): Promise<string[]>
  /** Its plan, with a million for each bind. */
  plan(text: string): Promise<string>
}

interface SentStatements extends TracedStatements {
  running(): Promise<string[]>
}

export async function traceStatements(
  t: { teardown(work: () => unknown): void },
  dataDirectory: string,
): Promise<SentStatements> {
  const setting = managedSetting(dataDirectory)
  const [host = '', port] = setting('pg.net.bind.to').split(':')
  const credentials = { user: setting('pg.user'), password: setting('pg.password') }
  const client = new pg.Client({ host, port: Number(port), ...credentials, database: 'qdb', ssl: false })
  // Without a listener, a restart of QuestDB would end the test.
  client.on('error', () => undefined)
  await client.connect()
  t.teardown(() => client.end())
  const others = "SELECT query FROM query_activity() WHERE query NOT LIKE '%query_activity%'"
  const traced = await traceBy(client, questdbRoot({ questdb: join(dataDirectory, 'questdb') }))
  return { ...traced, running: () => firstColumn(client, others) }
}

/** From here on, QuestDB's trace records queries of every protocol, thread and process. */
export async function traceBy(client: pg.Client, root: string): Promise<TracedStatements> {
  const [settings, enabled] = [join(root, 'conf', 'server.conf'), 'query.tracing.enabled=true\n']
  if (!readFileSync(settings, 'utf8').endsWith(enabled)) {
    appendFileSync(settings, enabled)
    await firstColumn(client, 'SELECT reload_config()')
  }
  const [since] = await firstColumn(client, 'SELECT cast(systimestamp() AS LONG)')
  return {
    async texts() {
      const traced = () => firstColumn(client, `SELECT query_text FROM _query_trace WHERE ts >= ${since}`)
      // QuestDB writes the trace a moment later, in the order of the statements.
      const mark = `SELECT ${Date.now()} AS mark`
      await firstColumn(client, mark)
      await until('the trace has all statements', async () => (await traced()).includes(mark))
      const byShape = new Map<string, string>()
      for (const text of await traced()) {
        // The limit of a list counts.
        const limitAt = text.lastIndexOf('LIMIT') + 1 || text.length
        byShape.set(text.slice(0, limitAt).replaceAll(/\d[\d.e-]*/g, '0') + text.slice(limitAt), text)
      }
      return [...byShape.values()]
    },
    async plan(text) {
      const binds = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
      return (await firstColumn(client, `EXPLAIN ${text}`, Array<string>(binds).fill('1000000'))).join('\n')
    },
  }
}

async function firstColumn(client: pg.Client, text: string, values: string[] = []): Promise<string[]> {
  return (await client.query({ text, values, rowMode: 'array' })).rows.map(([first]) => String(first))
}

const topRowsMax = 100

/** QuestDB 9.3.4 pays for each row of such a list in proportion to the limit. */
export async function hasLongList(statements: TracedStatements, text: string): Promise<boolean> {
  // Definitions and changes have no plan.
  if (!/^\s*(SELECT|WITH)\b/i.test(text)) return false
  const lines = (await statements.plan(text)).split('\n').filter(line => line.includes('Top K'))
  return lines.some(line => !(Number(/\blo: (\d+)$/.exec(line)?.[1]) <= topRowsMax))
}

/** Statements with a plan. Statements on a dropped table have none. */
export async function longLists(statements: TracedStatements): Promise<string[]> {
  const found: string[] = []
  for (const text of await statements.texts()) {
    if (/\bLIMIT\b/.test(text) && (await hasLongList(statements, text).catch(() => false))) found.push(text)
  }
  return found
}

export interface LimitedText {
  /** `query/points/points-source.ts` */
  file: string
  parts: string[]
}

interface Node {
  type: string
  value?: unknown
  quasis?: { value: { cooked: string } }[]
}

/** Every text of the product that has a LIMIT. */
export function limitedTexts(): LimitedText[] {
  return sourceFiles().flatMap(({ file, text }) => {
    if (!/\bLIMIT\b/.test(text)) return []
    const found: string[][] = []
    const script = stripTypeScriptTypes(text, { mode: 'strip' })
    visit(parse(script, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true }), node => {
      if (node.type === 'TemplateLiteral') found.push((node.quasis ?? []).map(({ value }) => value.cooked))
      if (node.type === 'Literal' && typeof node.value === 'string') found.push([node.value])
    })
    return found.filter(parts => parts.some(part => /\bLIMIT\b/.test(part))).map(parts => ({ file, parts }))
  })
}

function visit(node: unknown, take: (node: Node) => void): void {
  if (Array.isArray(node)) for (const one of node) visit(one, take)
  else if (typeof node === 'object' && node !== null) {
    if ('type' in node) take(node as Node)
    for (const child of Object.values(node)) visit(child, take)
  }
}

/** True if the statement has the parts in this order. A `?` is put in later. */
export function isMadeOf(statement: string, { parts }: LimitedText): boolean {
  let from = 0
  for (const part of parts.flatMap(text => text.split('?'))) {
    const at = statement.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return true
}
