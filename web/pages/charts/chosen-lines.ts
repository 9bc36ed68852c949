/** The lines of a chart in the address: `line=temperature:porch`, once for each. */

import type { Preset } from '../../charts/range.ts'

export const chartPresets: readonly Preset[] = ['1h', '6h', '24h', '7d', '30d', '365d']

export interface ChosenLine {
  readonly metric: string
  readonly device: string
}

/** More lines cannot be distinguished. */
export const linesMax = 8

/** Names of metrics have no colon. */
const linePattern = /^([a-z][a-z0-9_]{0,47}):(.+)$/s

/** The first of them, each once. */
export function chosenLines(fields: URLSearchParams): ChosenLine[] {
  const texts = [...new Set(fields.getAll('line'))]
  const lines = texts.flatMap(text => {
    const [, metric, device] = linePattern.exec(text) ?? []
    return metric === undefined || device === undefined ? [] : [{ metric, device }]
  })
  return lines.slice(0, linesMax)
}

export function lineText({ metric, device }: ChosenLine): string {
  return `${metric}:${device}`
}

/** The address of the page with these lines. */
export function chartPath(lines: readonly ChosenLine[]): string {
  return `/charts?${new URLSearchParams(lines.map((line): [string, string] => ['line', lineText(line)]))}`
}
