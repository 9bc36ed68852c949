/** The mails of the service as text and HTML. */

import type { MailKind } from './outbox-rows.ts'

export function mailDocument(title: string, parts: readonly string[]): string {
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head>`,
    '<body style="font-family: sans-serif; line-height: 1.5; max-width: 36em">',
    ...parts,
    '</body></html>\n',
  ].join('\n')
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

export interface Mail {
  to: string
  subject: string
  text: string
  html: string
  /** Sent in addition to the common headers, in lower case. */
  headers?: Readonly<Record<string, string>>
}

interface MailContent {
  kind: MailKind
  email: string
  publicUrl: string
  token?: string
}

interface Template {
  subject: string
  /** Page of the link, which includes the token, if any. */
  page?: string
  before: string
  after: string
}

const templates: Record<MailKind, Template> = {
  verification: {
    subject: 'Confirm your e-mail address',
    page: '/verify',
    before: 'Open this page to confirm that this address is yours:',
    after: 'The link is good for 24 hours and works once. If you have asked for nothing, ignore this mail.',
  },
  'password-reset': {
    subject: 'Set a new password',
    page: '/reset',
    before: 'Open this page to set a new password:',
    after: 'The link is good for one hour and works once. If you have asked for nothing, ignore this mail.',
  },
  invitation: {
    subject: 'An invitation',
    page: '/sign-up',
    before: 'You are invited to make an account. Open this page to do so:',
    after: 'The link is good for 7 days and works once, for this address. If you know nothing of it, ignore this mail.',
  },
  'password-changed': {
    subject: 'Your password was changed',
    before: 'The password of your account was changed, and all sessions were ended.',
    after: 'If it was not you, ask for a new password at once, and inform the operator of this service.',
  },
  'email-change': {
    subject: 'A new e-mail address for your account',
    before: 'A person who is signed in to your account has asked to change its e-mail address.',
    after: 'If it was not you, change your password at once, and inform the operator of this service.',
  },
  'login-after-failures': {
    subject: 'A sign-in after many wrong passwords',
    before: 'There was a sign-in to your account after many attempts with wrong passwords.',
    after: 'If it was not you, change your password at once, and inform the operator of this service.',
  },
  'alert-channel-disabled': {
    subject: 'A channel of your alerts was disabled',
    page: '/alerts/channels',
    before:
      'Notifications to one of your channels have failed for five days, or its receiver has said that it wants no more. It gets no more of them until you enable it:',
    after: 'Alerts go on firing. This page shows them, and failed deliveries.',
  },
  'key-created': {
    subject: 'A new API key for your account',
    before: 'An API key was added to your account.',
    after: 'If it was not you, revoke it, change your password at once, and inform the operator of this service.',
  },
}

export function renderMail({ kind, email, publicUrl, token }: MailContent): Mail {
  const { subject, page, before, after } = templates[kind]
  const link = page === undefined ? undefined : `${publicUrl}${page}${token === undefined ? '' : `?token=${token}`}`
  const service = new URL(publicUrl).host
  const parts = [before, ...(link === undefined ? [] : [link]), after, `Sent by Barograph at ${service}`]
  return { to: email, subject, text: `${parts.join('\n\n')}\n`, html: htmlOf(subject, parts, link) }
}

function htmlOf(subject: string, parts: readonly string[], link: string | undefined): string {
  const paragraphs = parts.map(part => {
    const text = escapeHtml(part)
    return part === link ? `<p><a href="${text}">${text}</a></p>` : `<p>${text}</p>`
  })
  return mailDocument(subject, paragraphs)
}
