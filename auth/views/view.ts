/** A page, or a dashboard, with a name that a person has given. */

import { z } from 'zod'
import { type Panel, Panels } from './panel.ts'

export const View = z
  .object({
    id: z.int(),
    name: z.string(),
    address: z.string(),
    is_start: z.boolean().meta({ description: 'True for the start page of its owner' }),
    panels: Panels.nullable().meta({ description: 'The panels of a dashboard; null for other pages' }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'SavedView', title: 'SavedView' })
export type View = z.infer<typeof View>

export interface SavedView {
  id: number
  name: string
  address: string
  /** True for the owner's start page; at most one view is. */
  isStart: boolean
  /** Null for a page other than a dashboard. */
  panels: Panel[] | null
  createdMs: number
}

export const viewNameLengthMax = 100
export const viewsPerAccountMax = 100
