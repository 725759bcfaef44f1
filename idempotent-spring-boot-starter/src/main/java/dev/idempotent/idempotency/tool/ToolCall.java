package dev.idempotent.idempotency.tool;

import java.util.List;

import dev.idempotent.idempotency.ToolRefusal;
import org.jspecify.annotations.Nullable;

/**
 * A call of a tool, as known to the framework that makes it. It is bound to the thread
 * from the framework to the tool's method. The advice of the method reads the key and the
 * conversation, and reports how it has answered.
 */
public final class ToolCall {

	private static final ThreadLocal<@Nullable ToolCall> CURRENT = new ThreadLocal<>();

	private static final int MAX_LENGTH = 255;

	private final @Nullable String tool;

	private final List<Object> keys;

	private final @Nullable String conversation;

	private final boolean ofClient;

	private @Nullable ToolRefusal refusal;

	private @Nullable String refusalText;

	private boolean ran;

	private boolean replayed;

	private @Nullable Object failedResult;

	private ToolCall(@Nullable String tool, List<Object> keys, @Nullable String conversation, boolean ofClient) {
		this.tool = tool;
		this.keys = keys;
		this.conversation = conversation;
		this.ofClient = ofClient;
	}

	/**
	 * Creates a call that a client has requested.
	 * @param tool the name of the tool
	 * @param keys the different values that the client has sent as its key, as they are;
	 * none without a key
	 * @return the call
	 */
	static ToolCall ofClient(String tool, List<Object> keys) {
		return new ToolCall(tool, keys, null, true);
	}

	/**
	 * Creates a call, of any tool, in a conversation of the application.
	 * @param conversation the id of the conversation
	 * @return the call
	 */
	static ToolCall inConversation(String conversation) {
		return new ToolCall(null, List.of(), conversation, false);
	}

	/**
	 * Creates a call, of any tool, that only reports how it was answered.
	 * @return the call
	 */
	public static ToolCall observed() {
		return new ToolCall(null, List.of(), null, false);
	}

	/**
	 * The call that the current thread makes.
	 * @return {@code null} if no framework that this library knows has made it
	 */
	public static @Nullable ToolCall current() {
		return CURRENT.get();
	}

	/**
	 * Binds a call to the current thread.
	 * @param call the call, or {@code null} for none
	 * @return what was bound before, to be bound again
	 */
	public static @Nullable ToolCall bind(@Nullable ToolCall call) {
		ToolCall outer = CURRENT.get();
		if (call != null) {
			CURRENT.set(call);
		}
		else {
			CURRENT.remove();
		}
		return outer;
	}

	/**
	 * Returns what the tool's method may pass on to the tools that it calls itself: the
	 * key is its own.
	 * @return the call without its key, or {@code null} if nothing remains
	 */
	public @Nullable ToolCall inner() {
		return (this.conversation != null || this.ofClient)
				? new ToolCall(null, List.of(), this.conversation, this.ofClient) : null;
	}

	/**
	 * Returns whether this is a call of a tool, and not of one that calls it.
	 * @param name the name of the tool
	 * @return {@code false} if the framework calls another tool
	 */
	public boolean isOf(String name) {
		return this.tool == null || this.tool.equals(name);
	}

	/**
	 * Returns whether the client has sent a key, valid or not.
	 * @return whether there is one
	 */
	public boolean hasKey() {
		return !this.keys.isEmpty();
	}

	/**
	 * The key that the client has sent.
	 * @return {@code null} without one
	 * @throws IllegalArgumentException if it is not one text of 1 to 255 characters
	 */
	public @Nullable String key() {
		if (this.keys.isEmpty()) {
			return null;
		}
		if (this.keys.size() == 1 && this.keys.get(0) instanceof String key && !key.isBlank()
				&& key.length() <= MAX_LENGTH) {
			return key;
		}
		throw new IllegalArgumentException(
				"The client has sent several keys, or one that is not a text of 1 to " + MAX_LENGTH + " characters");
	}

	/**
	 * The conversation of the application.
	 * @return its id, or {@code null} if it is unknown
	 */
	public @Nullable String conversation() {
		return this.conversation;
	}

	/**
	 * Returns whether a client of an MCP server has made this call, or the call of the
	 * tool that makes this one.
	 */
	boolean isOfClient() {
		return this.ofClient;
	}

	/**
	 * Forgets what was reported: advice around the method may repeat it.
	 */
	public void reset() {
		this.refusal = null;
		this.refusalText = null;
		this.failedResult = null;
		this.replayed = false;
	}

	/**
	 * Reports that this call has made the result, whatever repetitions of the method by
	 * advice around it get.
	 */
	public void ran() {
		this.ran = true;
	}

	/**
	 * Reports that an earlier call has made the result, unless this one has.
	 */
	public void replayed() {
		this.replayed = !this.ran;
	}

	/**
	 * Returns whether an earlier call has made the result.
	 * @return {@code false} until that is reported
	 */
	public boolean isReplayed() {
		return this.replayed;
	}

	/**
	 * Reports a result of the tool that stands for its failure, where only an exception
	 * can undo the work.
	 * @param result the result
	 */
	public void failed(Object result) {
		this.failedResult = result;
	}

	@Nullable Object failedResult() {
		return this.failedResult;
	}

	void refused(ToolRefusal reported, String text) {
		this.refusal = reported;
		this.refusalText = text;
	}

	@Nullable ToolRefusal refusal() {
		return this.refusal;
	}

	@Nullable String refusalText() {
		return this.refusalText;
	}

}
