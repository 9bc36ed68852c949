/**
 * Links that show a saved view without sign-in: the owner creates, lists and revokes them, and a visitor looks one up.
 */

import { z } from 'zod'
import type { RateLimit } from '../../auth/rate-limits.ts'
import { linkDaysMax, linksPerAccountMax, SharedView, ViewLink } from '../../auth/views/link.ts'
import type { LinkDetails } from '../../auth/views/link-rows.ts'
import { type AccountService, accountOf } from './account-service.ts'
import { integer, record } from './kit/fields.ts'
import { type AccountOperation, operation } from './kit/operation.ts'
import { limit } from './limits.ts'
import { isoTime } from './schemas.ts'

const CreateViewLinkRequest = record('CreateViewLinkRequest', {
  expires_in_days: integer({ min: 1, max: linkDaysMax }),
})
const CreateViewLinkResponse = ViewLink.extend({
  token: z.string().meta({ description: 'Shown only once. The link is `/shared#<token>`.' }),
  embed_origins: z.array(z.string()).meta({
    description: 'Origins whose pages may show `/embed#<token>` in a frame, from the setting `EMBED_ORIGINS`.',
  }),
}).meta({ id: 'CreateViewLinkResponse', title: 'CreateViewLinkResponse' })
const ViewPath = record('ViewLinksPath', { view_id: integer() })
const LinkPath = record('ViewLinkPath', { link_id: integer() })

const ofChanges = ['UNAUTHENTICATED', 'FORBIDDEN', 'CROSS_SITE', 'UNAVAILABLE'] as const

export function viewLinkOperations({ viewLinks, settings }: AccountService): AccountOperation[] {
  return [
    operation({
      method: 'GET',
      path: '/me/view-links',
      name: 'list_my_view_links',
      summary: 'The links to views of the current user',
      permission: 'account.manage',
      success: { status: 200, description: 'The links, the newest first', json: z.array(ViewLink) },
      refusals: ['UNAUTHENTICATED', 'FORBIDDEN', 'UNAVAILABLE'],
      async handle({ principal }) {
        const links = await viewLinks.list(accountOf(principal))
        return { ok: true, value: links.map(linkAnswer) }
      },
    }),
    operation({
      method: 'POST',
      path: '/me/views/:view_id/links',
      name: 'create_my_view_link',
      summary: 'Make a link by which anybody sees a view',
      description: `Anyone with the link sees the devices of the view, and nothing else, until it expires or is revoked. An account has at most ${linksPerAccountMax}.`,
      permission: 'account.manage',
      parameters: { path: ViewPath },
      body: { json: CreateViewLinkRequest },
      success: { status: 201, description: 'The link, with its token', json: CreateViewLinkResponse },
      refusals: [...ofChanges, 'VIEW_UNKNOWN', 'VIEW_NOT_SHAREABLE', 'TOO_MANY_LINKS', 'TOO_MANY_REQUESTS'],
      async handle({ principal, path: { view_id: viewId }, body: { expires_in_days: days } }) {
        const created = await viewLinks.create(accountOf(principal), viewId, days)
        if (!created.ok) return created
        const { token } = created.value
        return { ok: true, value: { ...linkAnswer(created.value), token, embed_origins: [...settings.embedOrigins] } }
      },
    }),
    operation({
      method: 'DELETE',
      path: '/me/view-links/:link_id',
      name: 'revoke_my_view_link',
      summary: 'Revoke a link at once',
      permission: 'account.manage',
      parameters: { path: LinkPath },
      success: { status: 200, description: 'It is revoked, now or earlier', json: ViewLink },
      refusals: [...ofChanges, 'LINK_UNKNOWN'],
      async handle({ principal, path: { link_id: id } }) {
        const revoked = await viewLinks.revoke(accountOf(principal), id)
        return revoked.ok ? { ok: true, value: linkAnswer(revoked.value) } : revoked
      },
    }),
  ]
}

/** Tokens cannot be guessed. The limit bounds the cost of attempts. */
const guesses: RateLimit = { kind: 'shared-view', countMax: 300, windowMs: 600_000 }

/** Only wrong links are counted: many visitors may share a network. */
export function sharedViewOperation(service: AccountService): AccountOperation {
  return operation({
    method: 'GET',
    path: '/shared-view',
    name: 'get_shared_view',
    summary: 'The view that a link shows',
    description: 'With the token of the link as Bearer.',
    credentials: ['viewLink'],
    success: { status: 200, description: 'The view', json: SharedView },
    refusals: ['UNAUTHENTICATED', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
    async handle({ identify, client }) {
      const principal = await identify()
      if (principal?.kind !== 'view-link') {
        return (await limit(service, guesses, client)) ?? { ok: false, code: 'UNAUTHENTICATED' }
      }
      const { name, address, panels, expiresMs } = principal.link
      return { ok: true, value: { name, address, panels: panels && [...panels], expires_at: isoTime(expiresMs) } }
    },
  })
}

function linkAnswer({ id, viewId, prefix, createdMs, expiresMs, revokedMs }: LinkDetails): z.infer<typeof ViewLink> {
  return {
    id,
    view_id: viewId,
    prefix,
    created_at: isoTime(createdMs),
    expires_at: isoTime(expiresMs),
    revoked_at: revokedMs === null ? null : isoTime(revokedMs),
  }
}
