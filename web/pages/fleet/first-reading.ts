/** The commands of the README for a first reading. */

export const firstReading = {
  add: 'npx barograph devices add porch --location-short Porch --json',
  /** `origin`: where the service is reached, `http://127.0.0.1:8080`; `$URL` in the README. */
  send: (origin: string) => `curl -u porch:PASSWORD -X PUT -H 'content-type: application/json' \\
  -d '{"device":"porch","temperature":21.4,"humidity":48,"pressure":1013.2}' ${origin}/api/log`,
}
