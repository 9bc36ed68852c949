/** Declares the admin API's answers on rejected readings. */

import { z } from 'zod'
import { rejectionWays } from '../../ingest/rejections/rejection.ts'

export const rejectionWay = z.enum(rejectionWays)
const rejectionId = z.int().positive()

export const RejectionPage = z.object({
  /** The answering node: each node keeps its own rejections. */
  node: z.object({ id: z.string(), host: z.string() }).optional(),
  /** Start of the service, which begins the list. */
  since: z.string(),
  /** All since the start, including those beyond the list. */
  rejected: z.int().nonnegative(),
  rejections: z.array(
    z.object({
      id: rejectionId,
      /** Time of the latest one. */
      at: z.string(),
      first_at: z.string(),
      way: rejectionWay,
      /** The addressed device or station, as far as it is known. */
      device: z.string().nullable(),
      /** The device, key or address of the credential, or the client's address without a valid one. */
      sender: z.string(),
      reason: z.string(),
      /** Number of equal rejections. */
      count: z.int().positive(),
    }),
  ),
  /** Argument for `?after=`, or null on the last page. */
  next: rejectionId.nullable(),
})
export type RejectionPage = z.infer<typeof RejectionPage>
export type Rejection = RejectionPage['rejections'][number]

export const UnknownDevicePage = z.object({
  /** The answering node: each node keeps its own list. */
  node: z.object({ id: z.string(), host: z.string() }).optional(),
  /** Start of the service, which begins the list. */
  since: z.string(),
  devices: z.array(
    z.object({
      name: z.string(),
      way: rejectionWay,
      /** The key, or the broker. */
      sender: z.string(),
      /** The account of the key, which has to own the device. */
      owner: z.int().nullable(),
      /** The decoder of the latest message. */
      family: z.string(),
      /** Time of the latest message. */
      at: z.string(),
      first_at: z.string(),
      messages: z.int().positive(),
      metrics: z.array(z.string()),
    }),
  ),
  /** The list has one page. */
  next: z.null(),
})
export type UnknownDevicePage = z.infer<typeof UnknownDevicePage>
