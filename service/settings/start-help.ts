/** Arguments and help of `barograph start`: how to start and stop the service, and its settings, from their schema. */

import { parseArgs } from 'node:util'
import { Settings } from './settings.ts'

export const startIntro = `Usage: barograph start [--role all|api|forward]

Runs the service, with a QuestDB and a PostgreSQL of its own unless it is given others. In a checkout, npm start does the
same. Ctrl-C stops it, as do SIGTERM and SIGHUP. Acknowledged readings are on disk, and the next start continues with them.

With KAFKA_BROKERS, --role api answers requests and --role forward writes what Kafka holds to QuestDB. Without the option a
process does both.

Settings are environment variables, as in: PORT=8081 DATA_DIR=/srv/barograph barograph start
`

export function settingRows(): [name: string, defaultValue: string, description: string][] {
  return Object.entries(Settings.shape).map(([name, schema]) => [
    name,
    textOf(defaultOf(schema)),
    schema.description ?? '',
  ])
}

export function startHelp(): string {
  const rows = settingRows()
  const width = (column: 0 | 1) => Math.max(...rows.map(row => row[column].length)) + 2
  const [nameWidth, defaultWidth] = [width(0), width(1)]
  const lines = rows.map(([name, value, description]) => {
    return `  ${name.padEnd(nameWidth)}${value.padEnd(defaultWidth)}${description}`
  })
  const head = `  ${'name'.padEnd(nameWidth)}${'default'.padEnd(defaultWidth)}what\n`
  return `${startIntro}\n${head}${lines.join('\n')}\n\nThe other commands: barograph --help\n`
}

interface Schema {
  _zod: { def: { type: string; defaultValue?: unknown; in?: unknown } }
}

/** The default as text, from the schema or from the one that parses the text. */
function defaultOf({ _zod: { def } }: Schema): unknown {
  return def.type === 'pipe' ? defaultOf(def.in as Schema) : def.defaultValue
}

const mebibyte = 1024 ** 2
const gibibyte = 1024 ** 3

/** Only default sizes are whole MiB. */
function textOf(value: unknown): string {
  if (value === undefined) return ''
  if (isRange(value)) return `${value.min}..${value.max}`
  if (typeof value !== 'number' || value === 0 || value % mebibyte !== 0) return String(value)
  return value % gibibyte === 0 ? `${value / gibibyte}GiB` : `${value / mebibyte}MiB`
}

function isRange(value: unknown): value is { min: number; max: number } {
  return typeof value === 'object' && value !== null && 'min' in value && 'max' in value
}

/**
 * `all` runs everything. With Kafka as the journal, `api` only serves requests and `forward` only forwards to QuestDB.
 */
const roles = ['all', 'api', 'forward'] as const
export type Role = (typeof roles)[number]

export class UsageError extends Error {}

/** Throws a UsageError. */
export function readStartArguments(words: readonly string[]): { isHelp: boolean; role: Role } {
  const { values, tokens } = parseArgs({
    args: [...words],
    options: { help: { type: 'boolean', short: 'h' }, role: { type: 'string', default: 'all' } },
    strict: false,
    tokens: true,
  })
  if (values.help === true) return { isHelp: true, role: 'all' }
  const other = tokens.find(token => token.kind !== 'option' || !['help', 'role'].includes(token.name))
  if (other !== undefined) {
    const word = JSON.stringify(words[other.index])
    throw new UsageError(`The service takes no arguments such as ${word}; --help lists its settings.`)
  }
  const role = roles.find(each => each === values.role)
  if (role === undefined) throw new UsageError('--role must be all, api or forward.')
  return { isHelp: false, role }
}
