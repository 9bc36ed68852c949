/** A page that a person has given a name. */

import { z } from 'zod'

/** As its owner is told of it. */
export const View = z
  .object({
    id: z.int(),
    name: z.string(),
    address: z.string(),
    is_start: z.boolean().meta({ description: 'Whether the pages begin there for its owner' }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'SavedView', title: 'SavedView' })
export type View = z.infer<typeof View>

export interface SavedView {
  id: number
  name: string
  address: string
  /** Whether the pages begin there for its owner; one view does at most. */
  isStart: boolean
  createdMs: number
}

export const viewNameLengthMax = 100
export const viewsPerAccountMax = 100
