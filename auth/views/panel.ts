/** Declares the panels of a dashboard, as they are stored and sent. */

import { z } from 'zod'
import { plainText } from '../../store/plain-text.ts'
import { tagMatchOr } from '../devices/tag.ts'

const panelsMax = 12
/** More lines cannot be distinguished. */
const panelLinesMax = 8
/** Bounds the memory of an account, which has the panels of each of its links. */
const panelsLengthMax = 8_000

/** Kinds that show metrics of named devices. */
const measuring = ['line', 'bars', 'value', 'state'] as const
const panelKinds = [...measuring, 'map', 'findings', 'list'] as const
export type PanelKind = (typeof panelKinds)[number]
const panelRanges = ['1h', '6h', '24h', '7d', '30d', '365d'] as const
const panelWidthMax = 4

function isMeasuring(kind: PanelKind): boolean {
  return measuring.some(one => one === kind)
}

const Panel = z
  .object({
    kind: z.enum(panelKinds).meta({
      description:
        '`line`: gauges over time; `bars`: amounts of counters and rates; `state`: states over time; `value`: last values; `map` and `list`: devices; `findings`: of the devices, or of the fleet',
    }),
    title: plainText({ max: 80 }).default('').meta({ description: 'Empty: a title made of the content' }),
    width: z.int().min(1).max(panelWidthMax).default(2).meta({ description: 'Columns of four' }),
    devices: z
      .array(plainText({ min: 1, max: 200 }))
      .max(panelLinesMax)
      .default([])
      .meta({ description: 'Names of devices; none for a map and a list' }),
    metrics: z
      .array(z.string().regex(/^[a-z][a-z0-9_]{0,47}$/))
      .max(panelLinesMax)
      .default([])
      .meta({ description: `Each of each device; together at most ${panelLinesMax}` }),
    range: z.enum(panelRanges).default('24h').meta({ description: 'Up to now' }),
    tags: z
      .array(tagMatchOr('must be a key, a colon and a value or "*"'))
      .max(16)
      .default([])
      .meta({ description: 'A map and a list show the devices with all of these' }),
    search: plainText({ max: 128 })
      .default('')
      .meta({ description: 'A map and a list show the devices with this in their name or place' }),
  })
  .superRefine(({ kind, devices, metrics }, context) => {
    if (!isMeasuring(kind)) return
    const lines = devices.length * metrics.length
    if (lines === 0) context.addIssue(`needs a device and a metric for ${kind}`)
    if (lines > panelLinesMax) context.addIssue(`has more than ${panelLinesMax} pairs of a device and a metric`)
  })
export type Panel = z.infer<typeof Panel>

export const Panels = z
  .array(Panel)
  .min(1)
  .max(panelsMax)
  .refine(panels => JSON.stringify(panels).length <= panelsLengthMax, 'are too long together')

/** Names of the devices whose readings the panels show. */
export function deviceNamesIn(panels: readonly Panel[]): string[] {
  const names = panels.filter(({ kind }) => isMeasuring(kind) || kind === 'findings').flatMap(({ devices }) => devices)
  return [...new Set(names)]
}
