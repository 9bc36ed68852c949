/** What the sweep does with requests that have ended; the time stands at $1. */

export const grantSweep = [
  // Nobody has fetched this key, and nobody can any more.
  `UPDATE api_keys SET revoked_at = $1 FROM device_grants
   WHERE api_keys.id = key_id AND revoked_at IS NULL AND status = 'approved' AND device_grants.expires_at <= $1`,
  // Until then a device learns that its request has expired.
  "DELETE FROM device_grants WHERE expires_at <= $1::timestamptz - interval '1 hour'",
]
