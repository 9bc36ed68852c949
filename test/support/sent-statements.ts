/** The statements that a managed QuestDB gets, as it records them itself, and the texts of the product that have a LIMIT. */

import { appendFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { parse } from 'acorn'
import pg from 'pg'
import { questdbRoot } from '../../store/questdb/questdb-server.ts'
import { managedSetting } from './ask-questdb.ts'
import { sourceFiles } from './source-regexps.ts'

export interface SentStatements {
  /** Each once, but for the moments in it. */
  texts(): Promise<string[]>
  /** Its plan; a bind is a million. */
  plan(text: string): Promise<string>
  /** What runs at this moment, beside this question. */
  running(): Promise<string[]>
}

/** By QuestDB's own trace of queries, whichever protocol, thread or process they come by. */
export async function traceStatements(
  t: { teardown(work: () => unknown): void },
  dataDirectory: string,
): Promise<SentStatements> {
  const setting = managedSetting(dataDirectory)
  const [host = '', port] = setting('pg.net.bind.to').split(':')
  const credentials = { user: setting('pg.user'), password: setting('pg.password') }
  const client = new pg.Client({ host, port: Number(port), ...credentials, database: 'qdb', ssl: false })
  // Without a listener a QuestDB that is restarted would end the test.
  client.on('error', () => undefined)
  await client.connect()
  t.teardown(() => client.end())
  const rows = async (text: string, values: string[] = []) =>
    (await client.query({ text, values, rowMode: 'array' })).rows.map(([first]) => String(first))
  const root = questdbRoot({ questdb: join(dataDirectory, 'questdb') })
  appendFileSync(join(root, 'conf', 'server.conf'), 'query.tracing.enabled=true\n')
  await rows('SELECT reload_config()')
  return {
    async texts() {
      const byShape = new Map<string, string>()
      for (const text of await rows('SELECT query_text FROM _query_trace')) {
        byShape.set(text.replaceAll(/\d{10,}/g, '0'), text)
      }
      return [...byShape.values()]
    },
    async plan(text) {
      const binds = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
      return (await rows(`EXPLAIN ${text}`, Array<string>(binds).fill('1000000'))).join('\n')
    },
    running: () => rows("SELECT query FROM query_activity() WHERE query NOT LIKE '%query_activity%'"),
  }
}

export interface LimitedText {
  /** `query/points/points-source.ts` */
  file: string
  /** What stands between what is put in. */
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

/** Whether the parts stand in the statement, one behind the other. A `?` is put in later. */
export function isMadeOf(statement: string, { parts }: LimitedText): boolean {
  let from = 0
  for (const part of parts.flatMap(text => text.split('?'))) {
    const at = statement.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return true
}
