package dev.idempotent.idempotency.tool;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.util.ClassUtils;

/**
 * Surrounds the calls of tools that models of this process request: hands the
 * conversation, if the application has put it into the tool context, to the tool's
 * method.
 */
public final class ChatToolBeanPostProcessor implements BeanPostProcessor {

	/**
	 * The name of the conversation in a tool context: that of Spring AI's chat memory.
	 */
	public static final String CONVERSATION_ID = "chat_memory_conversation_id";

	/**
	 * The name that Spring AI gives to a conversation without one.
	 */
	private static final String NO_CONVERSATION = "default";

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof ToolCallingManager executor) ? surround(executor) : bean;
	}

	/**
	 * Finds the conversation in an argument of a tool's method.
	 * @param argument the argument
	 * @return the id, or {@code null} if it is no tool context or has none
	 */
	public static @Nullable String conversationIn(Object argument) {
		return (argument instanceof ToolContext context) ? id(context.getContext().get(CONVERSATION_ID)) : null;
	}

	private static @Nullable String id(@Nullable Object id) {
		return (id == null || id.toString().isBlank() || id.equals(NO_CONVERSATION)) ? null : id.toString();
	}

	/**
	 * A proxy, because the interface has other methods in other releases.
	 */
	private static Object surround(ToolCallingManager executor) {
		return Proxy.newProxyInstance(executor.getClass().getClassLoader(),
				ClassUtils.getAllInterfacesForClass(executor.getClass(), executor.getClass().getClassLoader()),
				(proxy, method, arguments) -> invoke(executor, method, arguments));
	}

	private static @Nullable Object invoke(ToolCallingManager executor, Method method,
			@Nullable Object @Nullable [] arguments) throws Throwable {
		String conversation = null;
		for (Object argument : (arguments != null) ? arguments : new Object[0]) {
			conversation = (argument instanceof Prompt prompt) ? conversationOf(prompt) : conversation;
		}
		if (conversation == null) {
			return proceed(executor, method, arguments);
		}
		ToolCall outer = ToolCall.bind(ToolCall.inConversation(conversation));
		try {
			return proceed(executor, method, arguments);
		}
		finally {
			ToolCall.bind(outer);
		}
	}

	private static @Nullable Object proceed(ToolCallingManager executor, Method method,
			@Nullable Object @Nullable [] arguments) throws Throwable {
		try {
			return method.invoke(executor, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	private static @Nullable String conversationOf(Prompt prompt) {
		return (prompt.getOptions() instanceof ToolCallingChatOptions options && options.getToolContext() != null)
				? id(options.getToolContext().get(CONVERSATION_ID)) : null;
	}

}
