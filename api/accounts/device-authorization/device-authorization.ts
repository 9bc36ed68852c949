/** Lets a device request an API key that a person approves in the browser. */

import { z } from 'zod'
import type { Client } from '../../../auth/accounts/account-parts.ts'
import type { Accounts } from '../../../auth/accounts/accounts.ts'
import { approveGrant, denyGrant, lookUpGrant, type Viewer } from '../../../auth/grants/decide.ts'
import { pollGrant, startGrant } from '../../../auth/grants/device-side.ts'
import type { Principal } from '../../../auth/policy.ts'
import { record, text } from '../kit/fields.ts'
import { type AccountOperation, operation } from '../kit/operation.ts'
import { isoTime } from '../schemas.ts'

const userCode = () => text({ max: 40, description: 'Code that the device shows; case and hyphens are ignored' })

const StartRequest = record('StartRequest', { client_name: text({ max: 64 }).optional() })
const PollRequest = record('PollRequest', { device_code: text({ max: 200 }) })
export const InfoQuery = record('InfoQuery', { user_code: userCode() })
const ApproveRequest = record('ApproveRequest', {
  user_code: userCode(),
  name: text({ min: 1, max: 100, description: 'Name of the key' }).nullish(),
})
const DenyRequest = record('DenyRequest', { user_code: userCode() })

const time = () => z.iso.datetime()

const StartResponse = z
  .object({
    device_code: z.string(),
    user_code: z.string(),
    verification_uri: z.url(),
    verification_uri_complete: z.url(),
    expires_in: z.int(),
    interval: z.int(),
  })
  .meta({ id: 'StartResponse', title: 'StartResponse' })

const PollResponse = z
  .object({
    status: z.enum(['pending', 'approved', 'denied', 'expired']),
    api_key: z.string().nullable(),
    interval: z.int(),
  })
  .meta({ id: 'PollResponse', title: 'PollResponse' })

const InfoResponse = z
  .object({
    user_code: z.string(),
    client_name: z.string(),
    status: z.enum(['pending', 'approved', 'denied']),
    created_at: time(),
    expires_at: time(),
  })
  .meta({ id: 'InfoResponse', title: 'InfoResponse' })

const ApproveResponse = z
  .object({ status: z.literal('approved'), client_name: z.string(), key_prefix: z.string() })
  .meta({ id: 'ApproveResponse', title: 'ApproveResponse' })

const DenyResponse = z.object({ status: z.literal('denied') }).meta({ id: 'DenyResponse', title: 'DenyResponse' })

export interface DeviceAuthorizationService {
  accounts: Accounts
  /** Address of the page that takes the code. */
  publicUrl: () => string
}

const usualName = 'Agent'

export function deviceAuthorizationOperations(service: DeviceAuthorizationService): AccountOperation[] {
  return [...deviceOperations(service), ...approvalOperations(service)]
}

/** The device calls these without a signed-in account. */
function deviceOperations({ accounts, publicUrl }: DeviceAuthorizationService): AccountOperation[] {
  return [
    operation({
      method: 'POST',
      path: '/device/start',
      name: 'start_device_authorization',
      summary: 'Request an API key, which a person approves by the user code',
      body: { json: StartRequest },
      success: { status: 200, description: 'The codes, and how to poll', json: StartResponse },
      refusals: ['TOO_MANY_REQUESTS', 'UNAVAILABLE'],
      async handle({ body: { client_name: name = usualName }, client }) {
        const started = await startGrant(accounts, name.trim() === '' ? usualName : name, client)
        if (!started.ok) return started
        const { deviceCode, userCode, expiresInSeconds, intervalSeconds } = started.value
        const page = `${publicUrl()}/device`
        return {
          ok: true,
          value: {
            device_code: deviceCode,
            user_code: userCode,
            verification_uri: page,
            verification_uri_complete: `${page}?user_code=${userCode}`,
            expires_in: expiresInSeconds,
            interval: intervalSeconds,
          },
        }
      },
    }),
    operation({
      method: 'POST',
      path: '/device/poll',
      name: 'poll_device_authorization',
      summary: 'The outcome of the request, and the key, once',
      body: { json: PollRequest },
      success: { status: 200, description: 'Its status', json: PollResponse },
      refusals: ['GRANT_UNKNOWN', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
      async handle({ body: { device_code } }) {
        const polled = await pollGrant(accounts, device_code)
        if (!polled.ok) return polled
        const { status, apiKey, intervalSeconds } = polled.value
        return { ok: true, value: { status, api_key: apiKey, interval: intervalSeconds } }
      },
    }),
  ]
}

/** The deciding person calls these. */
function approvalOperations({ accounts }: DeviceAuthorizationService): AccountOperation[] {
  return [
    operation({
      method: 'GET',
      path: '/device/info',
      name: 'get_device_authorization',
      permission: 'account.manage',
      summary: 'Look up the request of a user code and bind it to this session',
      parameters: { query: InfoQuery },
      success: { status: 200, description: 'The request', json: InfoResponse },
      refusals: [
        'UNAUTHENTICATED',
        'FORBIDDEN',
        'CROSS_SITE',
        'GRANT_FOREIGN',
        'GRANT_UNKNOWN',
        'GRANT_EXPIRED',
        'TOO_MANY_REQUESTS',
        'UNAVAILABLE',
      ],
      async handle({ query: { user_code }, principal, client, isCrossSite }) {
        // It is a GET that changes something: the request is bound to the session.
        if (isCrossSite) return { ok: false, code: 'CROSS_SITE' }
        const found = await lookUpGrant(accounts, user_code, viewerOf(principal, client))
        if (!found.ok) return found
        const { userCode, clientName, status, createdMs, expiresMs } = found.value
        const times = { created_at: isoTime(createdMs), expires_at: isoTime(expiresMs) }
        return { ok: true, value: { user_code: userCode, client_name: clientName, status, ...times } }
      },
    }),
    operation({
      method: 'POST',
      path: '/device/approve',
      name: 'approve_device',
      permission: 'account.manage',
      summary: 'Approve the device, which gets an API key that may read',
      body: { json: ApproveRequest },
      success: { status: 200, description: 'The key is ready for the device', json: ApproveResponse },
      refusals: [...decisionRefusals, 'TOO_MANY_KEYS', 'ACCOUNT_INACTIVE'],
      async handle({ body: { user_code, name }, principal, client }) {
        const approved = await approveGrant(accounts, user_code, viewerOf(principal, client), { name })
        if (!approved.ok) return approved
        const { clientName, keyPrefix } = approved.value
        return { ok: true, value: { status: 'approved', client_name: clientName, key_prefix: keyPrefix } }
      },
    }),
    operation({
      method: 'POST',
      path: '/device/deny',
      name: 'deny_device',
      permission: 'account.manage',
      summary: 'Deny the device',
      body: { json: DenyRequest },
      success: { status: 200, description: 'It gets no key', json: DenyResponse },
      refusals: decisionRefusals,
      async handle({ body: { user_code }, principal, client }) {
        const denied = await denyGrant(accounts, user_code, viewerOf(principal, client))
        return denied.ok ? { ok: true, value: { status: 'denied' } } : denied
      },
    }),
  ]
}

const decisionRefusals = [
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'CROSS_SITE',
  'GRANT_FOREIGN',
  'GRANT_UNKNOWN',
  'GRANT_DECIDED',
  'GRANT_EXPIRED',
  'TOO_MANY_REQUESTS',
  'UNAVAILABLE',
] as const

function viewerOf(principal: Principal | undefined, client: Client): Viewer {
  if (principal?.kind !== 'session') throw new Error('the policy lets sessions in alone')
  return { signedIn: principal, client }
}
