/** A link that shows a saved view to anybody until it expires: its state in memory and its shape for the owner. */

import { z } from 'zod'
import { type Panel, Panels } from './panel.ts'

/** Limit of links that are neither revoked nor expired. */
export const linksPerAccountMax = 50
export const linkDaysMax = 365

/** A link that is neither revoked nor was expired when it was read. */
export interface LiveLink {
  id: number
  name: string
  address: string
  /** Numbers of devices; null for a view of the fleet. */
  devices: readonly number[] | null
  /** Null for a page other than a dashboard. */
  panels: readonly Panel[] | null
  expiresMs: number
}

export const ViewLink = z
  .object({
    id: z.int(),
    view_id: z.int(),
    prefix: z.string(),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
    revoked_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'ViewLink', title: 'ViewLink' })
export type ViewLink = z.infer<typeof ViewLink>

/** Shape for visitors with the link. */
export const SharedView = z
  .object({
    name: z.string(),
    address: z.string(),
    panels: Panels.nullable().meta({ description: 'The panels of a dashboard; null for other pages' }),
    expires_at: z.iso.datetime(),
  })
  .meta({ id: 'SharedView', title: 'SharedView' })
export type SharedView = z.infer<typeof SharedView>
