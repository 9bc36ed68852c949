/** Follows a media query, such as one on the width of the screen. */

import { useEffect, useState } from 'preact/hooks'

export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const change = () => setMatches(list.matches)
    list.addEventListener('change', change)
    change()
    return () => list.removeEventListener('change', change)
  }, [query])
  return matches
}
