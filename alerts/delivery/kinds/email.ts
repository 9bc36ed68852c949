/** A mail, as text and as HTML. Mails of a rule stand together in the inbox, and one that is sent twice is one there. */

import { escapeHtml, mailDocument } from '../../../auth/mail/templates.ts'
import type { Message } from '../../core/message.ts'
import { codeOf, delivered, failed } from '../attempt.ts'
import { type MessageText, textOf, zoneText } from '../message-text.ts'
import { unsubscribePath } from '../unsubscribe.ts'
import { type AlertMail, type ChannelKind, colours, resolvedColour, type Sending } from './kind.ts'

export const email: ChannelKind<'email'> = {
  secrets: [],
  hasUrl: false,
  async deliver(sending, signal) {
    const startedMs = performance.now()
    const passedMs = () => Math.round(performance.now() - startedMs)
    try {
      await Promise.race([sending.tools.sendMail(mailOf(sending)), ended(signal)])
      const result = delivered(passedMs())
      return sending.tools.hasMailServer ? result : { ...result, outcome: 'written', answer: writtenText }
    } catch (error) {
      return failed(signal.aborted ? 'no answer in time' : codeOf(error), passedMs())
    }
  },
}

/** The page shows this text before its own. */
export const writtenText = 'written to a file: no mail server (SMTP_URL)'

/** The ids of the alerts, so that an erase finds the files of mails. */
export const alertsHeader = 'x-barograph-alerts'

function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function mailOf({ message, webhookId, settings: { to }, own, tools }: Sending<{ to: string }>): AlertMail {
  const url = tools.publicUrl()
  const { host, hostname } = new URL(url)
  const content = textOf(message, tools.timeZone)
  const leave = own.unsubscribe === undefined ? undefined : `${url}${unsubscribePath}?token=${own.unsubscribe}`
  const footer = [zoneText(tools.timeZone), `Sent by Barograph at ${host}`]
  return {
    to,
    subject: content.title,
    text: plainOf(message, content, footer, leave),
    html: htmlOf(message, content, footer, leave),
    headers: {
      'message-id': `<${webhookId}@${hostname}>`,
      references: `<alert-rule-${message.rule.id}@${hostname}>`,
      ...(message.alerts.length === 0 ? {} : { [alertsHeader]: message.alerts.map(({ id }) => id).join(' ') }),
      ...(leave === undefined
        ? {}
        : { 'list-unsubscribe': `<${leave}>`, 'list-unsubscribe-post': 'List-Unsubscribe=One-Click' }),
    },
  }
}

function plainOf(message: Message, content: MessageText, footer: readonly string[], leave: string | undefined): string {
  const rows = content.lines.map(({ text, url }) => `- ${text}\n  ${url}`)
  const parts = [
    `${content.title}\nSeverity: ${message.rule.severity}. Rule: ${content.condition}.`,
    [...rows, ...(content.more === undefined ? [] : [content.more])].join('\n'),
    content.note,
    `All alerts of this rule: ${message.url}`,
    footer.join('\n'),
    leave === undefined ? '' : `No more of these mails: ${leave}`,
  ]
  return `${parts.filter(part => part !== '').join('\n\n')}\n`
}

function htmlOf(message: Message, content: MessageText, footer: readonly string[], leave: string | undefined): string {
  const colour = message.type === 'alert.resolved' ? resolvedColour : colours[message.rule.severity]
  const rows = content.lines.map(({ text, url }) => `<li>${linkTo(url, text)}</li>`)
  const parts = [
    `<h2 style="border-left: 6px solid ${colour}; padding-left: 10px">${escapeHtml(content.title)}</h2>`,
    `<p>Severity: ${message.rule.severity}. Rule: ${escapeHtml(content.condition)}.</p>`,
    rows.length === 0 ? '' : `<ul>${rows.join('\n')}</ul>`,
    content.more === undefined ? '' : `<p>${escapeHtml(content.more)}</p>`,
    content.note === '' ? '' : `<p><strong>${escapeHtml(content.note)}</strong></p>`,
    `<p>${linkTo(message.url, 'All alerts of this rule')}</p>`,
    `<p style="color: #666">${footer.map(escapeHtml).join('<br>')}</p>`,
    leave === undefined ? '' : `<p>${linkTo(leave, 'No more of these mails')}</p>`,
  ]
  return mailDocument(
    content.title,
    parts.filter(part => part !== ''),
  )
}

function linkTo(url: string, text: string): string {
  return `<a href="${escapeHtml(url)}">${escapeHtml(text)}</a>`
}
