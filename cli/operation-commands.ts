/**
 * Commands as data: a row has the arguments, the options, the operation of the API and how its answer is printed. Fields of a
 * request are the arguments and options by their names in snake_case, unless the row renames them.
 */

import { Argument, type Command, Option } from 'commander'
import { z } from 'zod'
import type { AdminClient } from './admin-client.ts'
import type { CommandContext, Define } from './command-context.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { cleared } from './option-values.ts'
import { printFields, printJson, printTable, printText, type Streams } from './output.ts'

/** Reads a value, or lists the allowed words. */
type Values = ((text: string, before: never) => unknown) | readonly string[]
export type ArgumentRow = readonly [name: string, description?: string, values?: Values]
export type OptionRow = Option | readonly [flags: string, description: string, values?: Values]

export interface CommandRow {
  arguments?: readonly ArgumentRow[]
  options?: readonly OptionRow[]
  /** Description of the option --json, or false without it. */
  json?: string | false
  help?: string
  /** The name of the program is left out. */
  examples?: readonly string[]
}

type Given = Record<string, unknown>

/** A line of text, a table, or fields. */
export type Part = string | readonly (readonly string[])[] | object

interface Outcome {
  json: unknown
  text: readonly Part[]
  /** Ends the command with status 1 after the output. */
  failure?: string | undefined
}

interface Request<Answer> {
  /** The path is below `/api`. A step such as `:id` is the argument of this name. */
  send: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`
  answer: z.ZodType<Answer>
  /** Looks up steps of the path that arguments only describe. */
  find?: Readonly<Record<string, (client: AdminClient, text: string) => Promise<string | number>>>
}

interface OperationRow<Answer, Fields> extends CommandRow, Request<Answer> {
  /** Options that belong to the query. All options of a GET do. */
  query?: readonly string[]
  /** Fields of the body by the names of their options. */
  fields?: Readonly<Record<string, string>>
  /** Makes the body of these fields. */
  body?: (fields: Fields, context: CommandContext, steps: Given) => object | Promise<object>
  asJson?: (answer: Answer, given: Given) => unknown
  text?: (answer: Answer, given: Given) => readonly Part[]
  failure?: (answer: Answer) => string | undefined
}

/** The commands of a group, in the order of its help. */
export function commands(...defines: readonly Define[]): Define {
  return (group, context) => {
    for (const define of defines) define(group, context)
  }
}

/** A group of commands below another one. */
export function group(name: string, description: string, define: Define): Define {
  return (parent, context) => define(parent.command(name).description(description), context)
}

interface HandmadeRow<Fields> extends CommandRow {
  /** Returns undefined when it has printed the output itself. */
  run: (given: Fields, context: CommandContext) => Promise<Outcome | undefined>
}

/** A command with a function of its own, for several requests. */
export function command<Fields = Given>(name: string, description: string, row: HandmadeRow<Fields>): Define {
  return defineRow(name, description, row, ({ steps, options, json }, context) =>
    row.run({ ...steps, ...options, json } as Fields, context),
  )
}

/** A command that sends one request. An empty name stands for the group itself. */
export function operation<Answer, Fields = Given>(
  name: string,
  description: string,
  row: OperationRow<Answer, Fields>,
): Define {
  const { asJson = same, text = (answer: Answer) => [answer as object], failure } = row
  return defineRow(name, description, row, async (given, context) => {
    const answer = await request(row, given, context)
    const all = { ...given.steps, ...given.options }
    return { json: asJson(answer, all), text: text(answer, all), failure: failure?.(answer) }
  })
}

const same = (answer: unknown): unknown => answer

interface RemovalRow extends CommandRow, Pick<Request<undefined>, 'send'> {
  /** Field of the JSON that has the value of the last step of the path. */
  field?: string
  text: (given: Given) => string
}

export function removal(name: string, description: string, { field = 'removed', text, ...row }: RemovalRow): Define {
  const key = row.send.slice(row.send.lastIndexOf(':') + 1)
  return operation(name, description, {
    json: 'print the result as JSON',
    ...row,
    answer: z.undefined(),
    asJson: (_, given) => ({ [field]: given[key] }),
    text: (_, given) => [text(given)],
  })
}

interface Page {
  next: string | number | null
}

/** The rows of a page are its only array. */
type RowOf<Of> = Extract<Of[keyof Of], readonly unknown[]>[number]

type Field<Row> = keyof Row & string
/** A field of the row, whose name is the head, or a head with a field or a function of the row. */
export type Column<Row> = Field<Row> | readonly [head: string, value: Field<Row> | ((row: Row) => string)]

interface ListRow<Answer> extends CommandRow, Request<Answer> {
  none: string
  columns: readonly Column<RowOf<Answer>>[]
}

export function list<Answer extends Page>(name: string, description: string, row: ListRow<Answer>): Define {
  return defineRow(name, description, row, async ({ options }, { apiClient }) => {
    const found = await readAll(apiClient, row.answer, row.send.slice('GET '.length), options)
    return { json: found, text: tableOf(found, row.columns, row.none) }
  })
}

/** The rows of all pages. Numbered pages continue by `page`, others by `after`. */
export async function readAll<Answer extends Page>(
  client: AdminClient,
  answer: z.ZodType<Answer>,
  path: string,
  query: Given = {},
): Promise<RowOf<Answer>[]> {
  const found: RowOf<Answer>[] = []
  let more: Given = {}
  for (;;) {
    const page: Answer = await client.json(answer, 'GET', withQuery(path, { ...query, ...more }))
    found.push(...(Object.values(page).find(Array.isArray) ?? []))
    if (page.next === null) return found
    more = { ['page' in page ? 'page' : 'after']: page.next }
  }
}

export function tableOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[], none?: string): Part[] {
  if (rows.length === 0 && none !== undefined) return [none]
  const pairs = columns.map(column =>
    typeof column === 'string' ? ([column.replaceAll('_', ' '), column] as const) : column,
  )
  const cells = (row: Row) => pairs.map(([, value]) => (typeof value === 'function' ? value(row) : cellOf(row[value])))
  return [[pairs.map(([head]) => head), ...rows.map(cells)]]
}

function cellOf(value: unknown): string {
  if (value === null || value === '') return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.join(' ') || '-'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

interface Invocation {
  /** Arguments, which may be steps of the path. */
  steps: Given
  /** Other options than --json, by their names in snake_case. */
  options: Given
  json: unknown
}

type Run = (given: Invocation, context: CommandContext) => Promise<Outcome | undefined>

function defineRow(name: string, description: string, row: CommandRow, run: Run): Define {
  return (group, context) => {
    const command = name === '' ? group : group.command(name).description(description)
    for (const [name, text, values] of row.arguments ?? []) command.addArgument(read(new Argument(name, text), values))
    for (const option of row.options ?? []) command.addOption(optionOf(option))
    if (row.json !== false) command.option('--json', row.json ?? 'print as JSON')
    command.addHelpText('after', helpOf(row)).action(async () => {
      const { json, ...options } = command.opts()
      const outcome = await run({ steps: stepsOf(command), options: inSnakeCase(options), json }, context)
      if (outcome !== undefined) print(context.streams, outcome, json)
    })
  }
}

function optionOf(row: OptionRow): Option {
  if (row instanceof Option) return row
  const [flags, description, values] = row
  return read(new Option(flags, description), values)
}

function read<Place extends Argument | Option>(place: Place, values: Values | undefined): Place {
  if (typeof values === 'function') place.argParser(values as (text: string, before: unknown) => unknown)
  else if (values !== undefined) place.choices(values)
  return place
}

function helpOf({ help, examples = [] }: CommandRow): string {
  const lines = examples.map(example => `\n  barograph ${example}`)
  const shown = lines.length === 0 ? [] : [`Example${lines.length > 1 ? 's' : ''}:${lines.join('')}`]
  return [...(help === undefined ? [] : [help]), ...shown].map(part => `\n${part}`).join('\n')
}

function stepsOf({ registeredArguments, processedArgs }: Command): Given {
  return Object.fromEntries(registeredArguments.map((argument, at) => [argument.name(), processedArgs[at]]))
}

function inSnakeCase(options: Given): Given {
  const nameOf = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [nameOf(name), value === cleared ? null : value]),
  )
}

async function request<Answer, Fields>(
  row: OperationRow<Answer, Fields>,
  { steps, options }: Invocation,
  context: CommandContext,
): Promise<Answer> {
  const { send, answer, query = [], fields = {}, body = same as never, find = {} } = row
  const [method = '', pattern = ''] = send.split(' ')
  const inPath = [...pattern.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const rest = [...Object.entries(steps).filter(([name]) => !inPath.includes(name)), ...Object.entries(options)]
  const isInQuery = ([name]: [string, unknown]) => method === 'GET' || query.includes(name)
  const named = rest.filter(field => !isInQuery(field)).map(([name, value]) => [fields[name] ?? name, value] as const)
  const sent: object = await body(Object.fromEntries(named) as Fields, context, steps)
  const isEmpty = Object.values(sent).every(value => value === undefined)
  if (isEmpty && method === 'PATCH') throw new CommandError('nothing to change; see --help', exitUsage)
  let path = pattern
  for (const name of inPath) {
    const step = (await find[name]?.(context.apiClient, String(steps[name]))) ?? steps[name]
    path = path.replace(`:${name}`, encodeURIComponent(String(step).toWellFormed()))
  }
  const target = withQuery(path, Object.fromEntries(rest.filter(isInQuery)))
  return await context.apiClient.json(answer, method, target, isEmpty && row.body === undefined ? undefined : sent)
}

/** Where a list has several values, the field is repeated. */
function withQuery(path: string, query: Given): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value].flat()) search.append(name, each === true ? '1' : String(each))
  }
  return search.size === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${search}`
}

function print(streams: Streams, { json, text, failure }: Outcome, isJson: unknown): void {
  if (isJson === true) printJson(streams, json)
  else for (const part of text) printPart(streams, part)
  if (failure !== undefined) throw new CommandError(failure)
}

function printPart(streams: Streams, part: Part): void {
  if (typeof part === 'string') printText(streams.stdout, `${part}\n`)
  else if (Array.isArray(part)) printTable(streams, part)
  else printFields(streams, part)
}
