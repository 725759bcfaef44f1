package dev.idempotent.idempotency;

/**
 * The source of an idempotency key.
 */
public enum KeySource {

	/**
	 * The {@code Idempotency-Key} header; a request without it gets {@code 400}.
	 */
	HEADER,

	/**
	 * The header if it was sent, otherwise the fingerprint of the request.
	 */
	HEADER_OR_FINGERPRINT,

	/**
	 * The fingerprint of the request: equal requests are retries for the whole retention,
	 * even where both were intended. For double clicks on forms without keys.
	 */
	FINGERPRINT,

	/**
	 * A one-time token that {@code OneTimeTokens} has issued for
	 * {@link Idempotent#name()}, in the header or in the form field {@code _idempotency}:
	 * what a page that was rendered once sends is processed once. Requires a name and
	 * {@code idempotent.token.secrets}.
	 */
	TOKEN,

	/**
	 * The call of a tool by an agent, on a method with Spring AI's {@code @Tool} or
	 * {@code @McpTool}: the key that {@link Idempotent#key()} selects from the arguments,
	 * if the call has one; otherwise the key in the {@code _meta} of an MCP request,
	 * under a name of {@code idempotent.tool.meta-names}; otherwise the fingerprint of
	 * the arguments: equal calls are retries for {@link Idempotent#window()}, even where
	 * both were intended.
	 * <p>
	 * Keys belong to the caller, and those from a fingerprint to the conversation as
	 * well. An MCP session is neither: each connection has a new one. A call without a
	 * known caller and conversation is refused, unless
	 * {@code idempotent.tool.single-caller} states that all calls have one caller. A
	 * refused call throws a {@code ToolCallRefusedException}, whose message tells a model
	 * what to do.
	 */
	TOOL_CALL

}
