/** Invitations as administrators see them: the shapes of one and of a page. */

import { z } from 'zod'
import { listPageFields } from '../list-page.ts'

/** The operator is made by the setup link alone. */
export const invitedRoles = ['user', 'administrator'] as const
export type InvitedRole = (typeof invitedRoles)[number]

export const Invitation = z.object({
  id: z.int(),
  email: z.string(),
  role: z.enum(invitedRoles),
  viewer: z.boolean().meta({ description: 'Whether the account is to read all devices where reads are private.' }),
  invited_by: z.string().meta({ description: 'As in the audit.' }),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
})
export type Invitation = z.infer<typeof Invitation>

/** One that was made, with the link for the invited person: shown this once. */
export const IssuedInvitation = Invitation.extend({ link: z.string() })
export type IssuedInvitation = z.infer<typeof IssuedInvitation>

export const InvitationPage = z.object({
  invitations: z.array(Invitation),
  ...listPageFields,
})
export type InvitationPage = z.infer<typeof InvitationPage>
