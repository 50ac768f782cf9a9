/** Texts that events have no room for, read from the conversation when somebody wants to see them. */

import { at, get } from "../../api/request";
import type { Page, Shapes } from "../../api/shapes";

export type Message = Shapes["Message"];
const PAGE = 200;
const PART_BYTES = 200_000;

/** The conversation of one session, as far as it was read. */
export class Conversation {
  private readonly found = new Map<string, Message>();
  private readonly callers = new Map<string, Message>();
  private cursor = "0";
  private reading: Promise<unknown> = Promise.resolve();

  constructor(private readonly id: string) {}

  /** A message by its id, or a result by that of its call; undefined: it is not there yet. Throws Refused. */
  message(id: string): Promise<Message | undefined> {
    return this.seek(() => this.found.get(id));
  }

  /** The input of a call as the model wrote it; undefined: it is not there yet. Throws Refused. */
  async inputOf(callId: string): Promise<unknown> {
    await this.seek(() => this.callers.get(callId));
    return this.callers.get(callId)?.tool_calls?.find(({ call_id }) => call_id === callId)?.input;
  }

  /** What a person said that begins so. Throws Refused. */
  saidFrom(beginning: string): Promise<Message | undefined> {
    return this.seek(() =>
      [...this.found.values()].find(({ role, content }) => role === "user" && content.startsWith(beginning)),
    );
  }

  private seek(look: () => Message | undefined): Promise<Message | undefined> {
    const next = this.reading.catch(() => undefined).then(() => this.readTo(look));
    this.reading = next;
    return next;
  }

  private async readTo(look: () => Message | undefined): Promise<Message | undefined> {
    for (;;) {
      const one = look();
      if (one) return one;
      const query = { limit: PAGE, cursor: this.cursor };
      const page = await get<Page<Message>>(at("/v1/sessions/{}/messages", this.id), query);
      for (const each of page.items) {
        this.found.set(each.message_id, each);
        for (const { call_id } of each.tool_calls ?? []) this.callers.set(call_id, each);
      }
      // The last page is read again: it grows.
      if (page.next_cursor === null) return look();
      this.cursor = page.next_cursor;
    }
  }

  /** A part of a long text. Throws Refused. */
  part(textId: string, offset: number): Promise<Shapes["TextPart"]> {
    return get(at("/v1/sessions/{}/texts/{}", this.id, textId), { offset, limit: PART_BYTES });
  }
}
