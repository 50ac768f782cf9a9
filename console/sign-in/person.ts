/** Whose a token, a draft or a message between tabs is. */
export interface Person {
  tenant: string;
  /** The subject of their tokens. */
  user: string;
}

export function isSame(one: Person | undefined, other: Person | undefined): boolean {
  return one?.tenant === other?.tenant && one?.user === other?.user;
}

/** A text that no other person has, whatever characters their names have. */
export function nameOf({ tenant, user }: Person): string {
  return `${encodeURIComponent(tenant)}/${encodeURIComponent(user)}`;
}
