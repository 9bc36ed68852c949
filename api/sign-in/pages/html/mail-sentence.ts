/** Announces a mail, and without a mail server also the folder that has it. */

import type { AccountService } from '../../../accounts/account-service.ts'

const whereText =
  'This service has no mail server (the setting SMTP_URL), so the mail is a file in the folder mail of its data directory.'

export function mailSentence(text: string, { sendsMail }: Pick<AccountService['settings'], 'sendsMail'>): string {
  return sendsMail ? text : `${text} ${whereText}`
}
