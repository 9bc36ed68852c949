/** Declares the request and response bodies of device authorization. */

import { z } from 'zod'
import { record, text } from '../kit/fields.ts'

const userCode = () => text({ max: 40, description: 'Code that the device shows; case and hyphens are ignored' })

export const StartRequest = record('StartRequest', { client_name: text({ max: 64 }).optional() })
export const PollRequest = record('PollRequest', { device_code: text({ max: 200 }) })
export const InfoQuery = record('InfoQuery', { user_code: userCode() })
export const ApproveRequest = record('ApproveRequest', {
  user_code: userCode(),
  name: text({ min: 1, max: 100, description: 'Name of the key' }).nullish(),
})
export const DenyRequest = record('DenyRequest', { user_code: userCode() })

const time = () => z.iso.datetime()

export const StartResponse = z
  .object({
    device_code: z.string(),
    user_code: z.string(),
    verification_uri: z.url(),
    verification_uri_complete: z.url(),
    expires_in: z.int(),
    interval: z.int(),
  })
  .meta({ id: 'StartResponse', title: 'StartResponse' })

export const PollResponse = z
  .object({
    status: z.enum(['pending', 'approved', 'denied', 'expired']),
    api_key: z.string().nullable(),
    interval: z.int(),
  })
  .meta({ id: 'PollResponse', title: 'PollResponse' })

export const InfoResponse = z
  .object({
    user_code: z.string(),
    client_name: z.string(),
    status: z.enum(['pending', 'approved', 'denied']),
    created_at: time(),
    expires_at: time(),
  })
  .meta({ id: 'InfoResponse', title: 'InfoResponse' })

export const ApproveResponse = z
  .object({ status: z.literal('approved'), client_name: z.string(), key_prefix: z.string() })
  .meta({ id: 'ApproveResponse', title: 'ApproveResponse' })

export const DenyResponse = z
  .object({ status: z.literal('denied') })
  .meta({ id: 'DenyResponse', title: 'DenyResponse' })
