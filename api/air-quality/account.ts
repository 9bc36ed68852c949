/** `/auth/` and `/account`: whether an API key is good, and whose it is. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { utcText } from '../../analytics/time/iso-text.ts'
import type { Account } from '../../auth/accounts/account.ts'
import { sendResource } from './etag.ts'
import type { AddPath, Asked } from './paths.ts'

export function addAccount(addPath: AddPath, nowMs: () => number): void {
  function check(_asked: Asked, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return sendResource(request, reply, { 'Authentication Check': 'All good!' })
  }

  function account({ key }: Asked, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return sendResource(request, reply, accountObject(key.account, nowMs()))
  }

  addPath({ url: '/auth', slash: 'required', methods: { GET: { permission: 'read', handle: check } } })
  addPath({ url: '/account', slash: 'either', methods: { GET: { permission: 'read', handle: account } } })
}

/** It was last seen now, by this request. */
function accountObject({ id, email, name, emailVerifiedMs, role, createdMs }: Account, nowMs: number): object {
  const [first_name, last_name] = splitName(name)
  return {
    ...{ id, username: email.slice(0, email.lastIndexOf('@')), email, confirmed: emailVerifiedMs !== null },
    ...{ first_name, last_name, role, is_administrator: role !== 'user' },
    member_since: utcText(createdMs * 1000),
    last_seen: utcText(Math.floor(nowMs / 1000) * 1_000_000),
  }
}

/** At the last space; null for what is not there. */
function splitName(name: string | null): [first: string | null, last: string | null] {
  const text = name?.trim() ?? ''
  const at = text.lastIndexOf(' ')
  if (at < 0) return [text === '' ? null : text, null]
  return [text.slice(0, at).trimEnd(), text.slice(at + 1)]
}
