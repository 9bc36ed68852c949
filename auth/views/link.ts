/** A link by which anybody sees a saved view until it expires: its state in memory, and as its owner is told of it. */

import { z } from 'zod'

/** Of links that are neither revoked nor expired. */
export const linksPerAccountMax = 50
export const linkDaysMax = 365

/** One that is neither revoked nor, at the time it was read, expired. */
export interface LiveLink {
  id: number
  name: string
  address: string
  /** By number; null for a view of the fleet. */
  devices: readonly number[] | null
  expiresMs: number
}

/** As its owner is told of it. */
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

/** What whoever has the link is told of the view. */
export const SharedView = z
  .object({ name: z.string(), address: z.string(), expires_at: z.iso.datetime() })
  .meta({ id: 'SharedView', title: 'SharedView' })
export type SharedView = z.infer<typeof SharedView>
