/** Declares invitations for administrators: one invitation, and a page of them. */

import { z } from 'zod'
import { listPageFields } from '../list-page.ts'

/** Only the setup link creates the operator. */
export const invitedRoles = ['user', 'administrator'] as const
export type InvitedRole = (typeof invitedRoles)[number]

export const Invitation = z.object({
  id: z.int(),
  email: z.string(),
  role: z.enum(invitedRoles),
  viewer: z.boolean().meta({ description: 'True if the account reads all devices with private reads.' }),
  invited_by: z.string().meta({ description: 'Name in the audit.' }),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
})
export type Invitation = z.infer<typeof Invitation>

/** A new invitation with its link, which is shown only once. */
export const IssuedInvitation = Invitation.extend({ link: z.string() })
export type IssuedInvitation = z.infer<typeof IssuedInvitation>

export const InvitationPage = z.object({
  invitations: z.array(Invitation),
  ...listPageFields,
})
export type InvitationPage = z.infer<typeof InvitationPage>
