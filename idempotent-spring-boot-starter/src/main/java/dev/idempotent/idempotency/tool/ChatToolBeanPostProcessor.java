package dev.idempotent.idempotency.tool;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.model.tool.ToolExecutionResult;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Surrounds the calls of tools that models of this process request: hands the
 * conversation, if the application has put it into the tool context, to the tool's
 * method.
 */
public final class ChatToolBeanPostProcessor implements BeanPostProcessor {

	/**
	 * The name that Spring AI gives to a conversation without one.
	 */
	private static final String NO_CONVERSATION = "default";

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof ToolCallingManager executor) ? new InConversation(executor) : bean;
	}

	/**
	 * Finds the conversation in an argument of a tool's method.
	 * @param argument the argument
	 * @return the id, or {@code null} if it is not a tool context or has none
	 */
	public static @Nullable String conversationIn(Object argument) {
		return (argument instanceof ToolContext context) ? id(context.getContext().get(ChatMemory.CONVERSATION_ID))
				: null;
	}

	private static @Nullable String id(@Nullable Object id) {
		return (id == null || id.toString().isBlank() || id.equals(NO_CONVERSATION)) ? null : id.toString();
	}

	private static @Nullable String conversationOf(Prompt prompt) {
		return (prompt.getOptions() instanceof ToolCallingChatOptions options && options.getToolContext() != null)
				? id(options.getToolContext().get(ChatMemory.CONVERSATION_ID)) : null;
	}

	/**
	 * Calls tools in the conversation of their prompt.
	 */
	private record InConversation(ToolCallingManager executor) implements ToolCallingManager {

		@Override
		public List<ToolDefinition> resolveToolDefinitions(ToolCallingChatOptions chatOptions) {
			return this.executor.resolveToolDefinitions(chatOptions);
		}

		@Override
		public ToolExecutionResult executeToolCalls(Prompt prompt, ChatResponse chatResponse) {
			String conversation = conversationOf(prompt);
			if (conversation == null) {
				return this.executor.executeToolCalls(prompt, chatResponse);
			}
			ToolCall outer = ToolCall.bind(ToolCall.inConversation(conversation));
			try {
				return this.executor.executeToolCalls(prompt, chatResponse);
			}
			finally {
				ToolCall.bind(outer);
			}
		}

	}

}
