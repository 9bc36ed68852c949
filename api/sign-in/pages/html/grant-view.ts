/** What asks for a key, and the decision about it. */

import type { GrantInfo } from '../../../../auth/grants/look-up.ts'
import { type Html, html } from '../../../http/html.ts'

export function grantView(grant: GrantInfo, { token, nowMs }: { token: string; nowMs: number }): Html {
  const { userCode, clientName, address, createdMs } = grant
  return html`<section class="card" aria-label="The device">
<dl>
<dt>Name it gives</dt><dd>“${clientName}”</dd>
<dt>Address</dt><dd>${address}</dd>
<dt>Asked</dt><dd>${ageOf(nowMs - createdMs)} ago</dd>
<dt>Code</dt><dd><code>${userCode}</code></dd>
<dt>Receives</dt><dd>an API key with the permission to read, until you revoke it</dd>
</dl>
<p class="warning">A device can give any name. Approve it only if it is yours and shows this code now.
<strong>Somebody sent you the code? Deny it.</strong></p>
<form method="post" action="device">
<input type="hidden" name="form" value="decide">
<input type="hidden" name="user_code" value="${userCode}">
<input type="hidden" name="client_name" value="${clientName}">
<input type="hidden" name="token" value="${token}">
<p class="buttons"><button class="button danger" name="decision" value="deny">Deny</button>
<button class="button strong" name="decision" value="approve">Approve</button></p>
</form>
</section>
`
}

function ageOf(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000))
  if (minutes === 0) return 'less than a minute'
  return minutes === 1 ? 'a minute' : `${minutes} minutes`
}
