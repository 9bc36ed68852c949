/** The lines that benchmarks print, as one table for people. */

import { z } from 'zod'

const Spread = z.object({ min: z.number(), median: z.number(), max: z.number() })

/** A figure as `bounds.ts` prints it: with a limit, or only a condition. */
const Figure = z.object({
  ratio: z.number().optional(),
  atLeast: z.number().optional(),
  atMost: z.number().optional(),
  /** The ratios of the runs. */
  ratios: Spread.optional(),
  ok: z.boolean(),
})

/** A benchmark's line, or the line of a property from `bench/properties.ts`. */
const Line = z.union([
  z.object({ figures: z.record(z.string(), Figure) }).transform(({ figures }) => figures),
  z
    .object({
      property: z.string(),
      rate: z.number(),
      ok: z.boolean(),
      atLeast: z.number().optional(),
      atMost: z.number().optional(),
    })
    .transform(({ property, rate, ...limits }) => ({ [property]: { ratio: rate, ...limits } })),
])

/** Processor time of bulk bodies by format. */
const Processor = z.object({
  processor: z.record(
    z.string(),
    z.object({ readingUs: z.record(z.string(), z.number()), allUs: Spread, runMs: Spread }),
  ),
})

/** The output of one benchmark. `skipped` is the reason for no run. */
export interface BenchResult {
  name: string
  seconds: number
  /** Undefined for one that did not run. */
  exitStatus: number | undefined
  skipped?: string
  /** JSON lines. */
  lines: unknown[]
}

/** The machine and the commit of the figures. */
export interface Surroundings {
  hardware: string
  questdb: string | undefined
  postgres: string | undefined
  /** Undefined outside of a checkout. */
  commit: string | undefined
  /** True if files differ from the commit. */
  changed: boolean
  /** ISO 8601. */
  date: string
  /** Processes that were running or waited for a processor before the first benchmark, as an average of a minute. */
  load: number
}

/** The table as a page of documentation. */
export function pageOf(surroundings: Surroundings, results: readonly BenchResult[]): string {
  const { hardware, questdb, postgres, commit = 'unknown', changed, date, load } = surroundings
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0)
  return `# Figures

Written by \`npm run bench\` on ${date.slice(0, 10)}: ${hardware}, QuestDB ${questdb}, PostgreSQL ${postgres}, commit
${commit.slice(0, 10)}${changed ? ' with changes' : ''}, ${Math.round(seconds / 60)} min, load before it ${load}. [Benchmarks](benches.md) says what each of them measures, and against what.

${tableOf(results)}${processorText(results)}`
}

function processorText(results: readonly BenchResult[]): string {
  const found = results.flatMap(({ lines }) =>
    lines.flatMap(line => Object.entries(Processor.safeParse(line).data?.processor ?? {})),
  )
  const [first] = found
  if (first === undefined) return ''
  const threads = Object.keys(first[1].readingUs)
  const rows = found.map(([format, { readingUs, allUs, runMs }]) => {
    const all = `${allUs.median} (${allUs.min} … ${allUs.max})`
    return [format, ...threads.map(thread => String(readingUs[thread] ?? 0)), all, String(runMs.median)]
  })
  return `
## Processor time of bulk bodies

Of the service, without the databases, in microseconds for each reading by thread; and what each run costs, in milliseconds.

${textOf([['body', ...threads, 'all', 'run'], ...rows])}`
}

const header = ['benchmark', 'figure', 'ratio', 'from … to', 'limit', '']

export function tableOf(results: readonly BenchResult[]): string {
  return textOf([header, ...results.flatMap(rowsOf)])
}

/** A Markdown table, padded so that it is readable as text too. Its first row is its header. */
function textOf(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(3, ...rows.map(row => row[column]?.length ?? 0)))
  const [head = '', ...body] = rows.map(row => lineOf(row.map((cell, column) => cell.padEnd(widths[column] ?? 0))))
  return `${[head, lineOf(widths.map(width => '-'.repeat(width))), ...body].join('\n')}\n`
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function rowsOf({ name, exitStatus, skipped, lines }: BenchResult): string[][] {
  if (exitStatus === undefined) return [[name, 'skipped', '', '', skipped ?? '', '']]
  const figures = figuresOf(lines)
  const rows = figures.map(([figure, value]) => rowOf(name, figure, value))
  if (rows.length === 0) return [[name, `exited with status ${exitStatus} and printed no result`, '', '', '', 'FAILED']]
  // One that printed its figures may have failed after them.
  const isExplained = exitStatus === 0 || figures.some(([, { ok }]) => !ok)
  return isExplained ? rows : [...rows, [name, `exited with status ${exitStatus}`, '', '', '', 'FAILED']]
}

/** True if a benchmark failed or printed no figures. */
export function hasFailed({ exitStatus, lines }: BenchResult): boolean {
  return exitStatus !== undefined && (exitStatus !== 0 || figuresOf(lines).length === 0)
}

function figuresOf(lines: readonly unknown[]): [string, z.infer<typeof Figure>][] {
  return lines.flatMap(line => {
    const parsed = Line.safeParse(line)
    return parsed.success ? Object.entries(parsed.data) : []
  })
}

function rowOf(name: string, figure: string, { ratio, ratios, atLeast, atMost, ok }: z.infer<typeof Figure>): string[] {
  const limits = [...(atLeast === undefined ? [] : [`≥ ${atLeast}`]), ...(atMost === undefined ? [] : [`≤ ${atMost}`])]
  const range = ratios === undefined ? '' : `${ratios.min} … ${ratios.max}`
  return [
    name,
    figure.replaceAll('|', '/'),
    ratio === undefined ? '' : String(ratio),
    range,
    limits.join(', '),
    ok ? 'ok' : 'MISSED',
  ]
}
