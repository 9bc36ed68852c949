/** The notifications that a rule would have sent for the stored readings. */

import { z } from 'zod'

const time = z.iso.datetime()

const PreviewedDevice = z.object({
  device: z.string().nullable().meta({ description: 'Null where the rule has one alert for all its devices' }),
  intervals: z.array(z.object({ from: time, to: time.nullable() })).meta({
    description:
      'In which it fires, within the range, ascending; the newest ones where there are many. `to` is null of one that goes on.',
  }),
  count: z.int().meta({ description: 'How often it fires' }),
  longest_seconds: z.number(),
})

const PreviewedWeek = z.object({
  week: z.string().meta({ description: 'ISO 8601, by local time: `2026-W48`' }),
  count: z.int(),
  half: z.int().meta({ description: 'The count with half of `for_seconds`' }),
  twice: z.int().meta({ description: 'The count with twice `for_seconds`' }),
})

export const PreviewAnswer = z.object({
  supported: z
    .boolean()
    .meta({ description: 'False for conditions that stored readings say nothing of; then nothing is counted' }),
  from: time,
  to: time,
  devices: z.array(PreviewedDevice).meta({ description: 'Those that fire most often first' }),
  devices_left_out: z.int().meta({ description: 'Devices of the selector that are too many for a preview' }),
  total: z.int().meta({ description: 'How often it fires on all these devices' }),
  longest_seconds: z.number(),
  weeks: z.array(PreviewedWeek).meta({ description: 'All weeks of the range' }),
})
export type PreviewAnswer = z.infer<typeof PreviewAnswer>
