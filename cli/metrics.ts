/** `barograph metrics`: manages the registry of metrics. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'
import { MetricCatalogue } from '../api/admin/metric-answers.ts'
import { MetricDetails, MetricPage } from '../auth/metrics/metric-page.ts'
import { type MetricChange, type MetricKind, metricKinds } from '../store/metrics/metric.ts'
import type { AdminClient } from './admin-client.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { jsonObjectOrNone, numberOrNone } from './option-values.ts'
import { printFields, printJson, printTable, printText, type Streams } from './output.ts'

interface Json {
  json?: boolean
}

interface MetricOptions extends Json {
  title?: string
  unit?: string
  kind?: MetricKind
  decimals?: number
  min?: number | 'none'
  max?: number | 'none'
  quality?: Record<string, unknown> | 'none'
  color?: string
  position?: number
}

export function defineMetrics(metrics: Command, { client, streams }: CommandContext): void {
  addAdd(metrics, client, streams)
  addList(metrics, client, streams)
  addSet(metrics, client, streams)
  addRemove(metrics, client, streams)
}

function addOptions(command: Command): Command {
  return command
    .option('--title <text>', 'name for people')
    .option('--unit <unit>', 'UCUM code or usual sign, such as ppm, °C or km/h, or none')
    .addOption(new Option('--kind <kind>', 'its kind, which decides the statistics').choices(metricKinds))
    .option('--decimals <digits>', 'digits shown behind the point', wholeNumber)
    .option('--min <value>', 'smallest value that is accepted, or none', numberOrNone)
    .option('--max <value>', 'largest value that is accepted, or none', numberOrNone)
    .option('--quality <json>', 'limits beyond which values are flagged as suspect, as JSON, or none', jsonObjectOrNone)
    .option('--color <colour>', 'of its lines, such as #1f77b4, or none')
    .option('--position <number>', 'place in lists, ascending', wholeNumber)
    .option('--json', 'print the metric as JSON')
}

const addHelp = `
A name that the catalogue knows is set up by it; barograph metrics list --catalogue shows them.
With METRICS=open, the default, the first reading with a field of a new name adds a metric, too.

Examples:
  barograph metrics add co2
  barograph metrics add sap_flow --title 'Sap flow' --unit L/h --min 0`

function addAdd(metrics: Command, client: AdminClient, streams: Streams): void {
  addOptions(
    metrics
      .command('add')
      .description('add a metric')
      .argument('<name>', 'lower-case letters, digits and "_"; it cannot be changed'),
  )
    .addHelpText('after', addHelp)
    .action(async (name: string, options: MetricOptions) => {
      const added = await client.json(MetricDetails, 'POST', '/metrics', { name, ...changeOf(options) })
      printMetric(streams, added, options.json)
    })
}

const setHelp = `
Kind and unit can change at any time; stored values are not converted and mean the new unit from then on. Of the five that
are built in (temperature, humidity, pressure, battery_voltage, battery_percentage), unit, kind and range stay.

Examples:
  barograph metrics set rain --kind counter --unit mm
  barograph metrics set co2 --max none --color '#1f77b4'`

function addSet(metrics: Command, client: AdminClient, streams: Streams): void {
  addOptions(metrics.command('set').description('change a metric').argument('<name>'))
    .addHelpText('after', setHelp)
    .action(async (name: string, options: MetricOptions) => {
      const change = changeOf(options)
      if (Object.keys(change).length === 0) throw new CommandError('nothing to change; see --help', exitUsage)
      printMetric(streams, await client.json(MetricDetails, 'PATCH', pathOf(name), change), options.json)
    })
}

function addRemove(metrics: Command, client: AdminClient, streams: Streams): void {
  metrics
    .command('remove')
    .description('remove a metric that no device has or lists')
    .argument('<name>')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  barograph metrics remove sap_flow')
    .action(async (name: string, { json }: Json) => {
      await client.json(z.undefined(), 'DELETE', pathOf(name))
      if (json === true) printJson(streams, { removed: name })
      else printText(streams.stdout, `removed ${name}\n`)
    })
}

const listHelp = `
Examples:
  barograph metrics list
  barograph metrics list --search wind --json
  barograph metrics list --catalogue`

function addList(metrics: Command, client: AdminClient, streams: Streams): void {
  metrics
    .command('list')
    .description('list metrics')
    .option('--search <text>', 'only metrics whose name or title contains this text (case-insensitive)')
    .option('--catalogue', 'metrics that are set up by their names instead')
    .option('--json', 'print as JSON')
    .addHelpText('after', listHelp)
    .action(async ({ search, catalogue, json }: { search?: string; catalogue?: boolean } & Json) => {
      if (catalogue === true) {
        await printCatalogue(client, streams, search ?? '', json)
        return
      }
      const found = await readAll(client, search ?? '')
      if (json === true) printJson(streams, found)
      else if (found.length === 0) printText(streams.stdout, 'no metrics\n')
      else printTable(streams, [['name', 'title', 'unit', 'kind', 'range'], ...found.map(rowOf)])
    })
}

async function readAll(client: AdminClient, search: string): Promise<MetricDetails[]> {
  const found: MetricDetails[] = []
  for (let after: number | null = -1; after !== null; ) {
    const query = new URLSearchParams({ search, ...(after === -1 ? {} : { after: String(after) }) })
    const answer: MetricPage = await client.json(MetricPage, 'GET', `/metrics?${query}`)
    found.push(...answer.metrics)
    after = answer.next
  }
  return found
}

async function printCatalogue(
  client: AdminClient,
  streams: Streams,
  search: string,
  json: boolean | undefined,
): Promise<void> {
  const { metrics } = await client.json(MetricCatalogue, 'GET', '/metrics/catalogue')
  const text = search.toLowerCase()
  const found = metrics.filter(({ name, title, aliases }) =>
    [name, title, ...aliases].some(word => word.toLowerCase().includes(text)),
  )
  if (json === true) {
    printJson(streams, found)
    return
  }
  const rows = found.map(metric => [...rowOf(metric), metric.aliases.join(', ')])
  printTable(streams, [['name', 'title', 'unit', 'kind', 'range', 'also called'], ...rows])
}

function rowOf({
  name,
  title,
  unit_sign,
  kind,
  min,
  max,
}: Omit<MetricCatalogue['metrics'][number], 'aliases'>): string[] {
  return [name, title, unit_sign ?? '-', kind, min === null && max === null ? '-' : `${min ?? ''}..${max ?? ''}`]
}

/** Only what was said. */
function changeOf(options: MetricOptions): MetricChange {
  const { title, unit, kind, decimals, min, max, quality, color, position } = options
  const change = { title, unit, kind, decimals, min, max, quality, color, position }
  const said = Object.entries(change).filter(([, value]) => value !== undefined)
  return Object.fromEntries(said.map(([field, value]) => [field, field !== 'title' && value === 'none' ? null : value]))
}

function wholeNumber(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('Expected a whole number.')
  return Number(text)
}

function pathOf(name: string): string {
  // Whatever else stands there would ask for another path.
  if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new CommandError(`"${name}" is not a valid metric name`, exitUsage)
  return `/metrics/${name}`
}

function printMetric(streams: Streams, metric: MetricDetails, json: boolean | undefined): void {
  if (json === true) printJson(streams, metric)
  else printFields(streams, metric)
}
