package dev.idempotent.idempotency.tool;

import dev.idempotent.idempotency.ToolRefusal;

/**
 * Renders refusals for models. A bean of this type replaces the default sentences, for
 * instance by ones that name the tool with which the application tells the state of an
 * order.
 */
@FunctionalInterface
public interface ToolRefusalRenderer {

	/**
	 * Renders a refusal. If it throws, the default sentence is sent.
	 * @param refusal the refusal
	 * @return what the model reads: what was done and what to do next, without a part of
	 * an argument or a key
	 */
	String render(ToolRefusal refusal);

}
