package dev.idempotent.idempotency.tool;

import java.lang.reflect.Modifier;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.model.tool.internal.ToolCallReactiveContextHolder;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Surrounds the calls of tools that models of this process request: hands the
 * conversation, if the application has put it into the tool context, to the tool's
 * method.
 */
public final class ChatToolBeanPostProcessor implements BeanPostProcessor, BeanFactoryAware {

	private static final Logger logger = LoggerFactory.getLogger(ChatToolBeanPostProcessor.class);

	/**
	 * The name that Spring AI gives to a conversation without one.
	 */
	private static final String NO_CONVERSATION = "default";

	private @Nullable ConfigurableListableBeanFactory beans;

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		this.beans = (beanFactory instanceof ConfigurableListableBeanFactory listable) ? listable : null;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof ToolCallingManager manager) ? surround(manager, beanName) : bean;
	}

	/**
	 * The bean keeps its class, by which it may be injected.
	 */
	private Object surround(ToolCallingManager manager, String beanName) {
		if (manager instanceof Advised advised && !advised.isFrozen()) {
			advised.addAdvice(0, new InConversation());
			return manager;
		}
		Class<?> type = manager.getClass();
		ProxyFactory proxy = new ProxyFactory(manager);
		proxy.addAdvice(new InConversation());
		proxy.setProxyTargetClass(!Modifier.isFinal(type.getModifiers()) && !type.isSealed());
		if (proxy.isProxyTargetClass() || isDeclaredByInterface(beanName)) {
			try {
				return proxy.getProxy(type.getClassLoader());
			}
			catch (AopConfigException ex) {
				logger.debug("The bean '{}' has no proxy", beanName, ex);
			}
		}
		logger.warn("The tools that the bean '{}' calls do not know the conversation, because its class {} cannot be "
				+ "extended. Declare the bean as ToolCallingManager, or let each tool have a parameter for the ToolContext",
				beanName, type.getName());
		return manager;
	}

	private boolean isDeclaredByInterface(String beanName) {
		Class<?> declared = (this.beans != null && this.beans.containsBeanDefinition(beanName))
				? this.beans.getMergedBeanDefinition(beanName).getResolvableType().resolve() : null;
		return declared == null || declared.isInterface();
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

	/**
	 * Returns the streams of chat models.
	 * @return what their subscribers have left in the context of the stream
	 */
	public static ToolCalls.Streams streams() {
		try {
			ChatStreams streams = new ChatStreams();
			boolean unused = streams.areCallingTools();
			return streams;
		}
		catch (LinkageError ex) {
			logger.warn("This version of Spring AI does not bind the context of a stream to the thread that calls its "
					+ "tools. A call outside of an HTTP request is refused unless a ToolCallerResolver knows its caller "
					+ "on its thread, or there is a single caller", ex);
			return ToolCalls.Streams.UNKNOWN;
		}
	}

	private static @Nullable String id(@Nullable Object id) {
		return (id == null || id.toString().isBlank() || id.equals(NO_CONVERSATION)) ? null : id.toString();
	}

	private static @Nullable String conversationOf(Prompt prompt) {
		return (prompt.getOptions() instanceof ToolCallingChatOptions options && options.getToolContext() != null)
				? id(options.getToolContext().get(ChatMemory.CONVERSATION_ID)) : null;
	}

	/**
	 * Spring AI binds the context of a stream to the thread that calls tools for it, by a
	 * class of an internal package.
	 */
	private static final class ChatStreams implements ToolCalls.Streams {

		@Override
		public ToolCalls.@Nullable Origin origin() {
			return ToolCallReactiveContextHolder.getContext().getOrDefault(ToolCalls.Origin.class, null);
		}

		@Override
		public boolean areCallingTools() {
			return !ToolCallReactiveContextHolder.getContext().isEmpty();
		}

	}

	/**
	 * Calls tools in the conversation of their prompt.
	 */
	private static final class InConversation implements MethodInterceptor {

		@Override
		public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
			String conversation = (invocation.getArguments().length > 0
					&& invocation.getArguments()[0] instanceof Prompt prompt) ? conversationOf(prompt) : null;
			if (conversation == null) {
				return invocation.proceed();
			}
			ToolCall outer = ToolCall.bind(ToolCall.inConversation(conversation));
			try {
				return invocation.proceed();
			}
			finally {
				ToolCall.bind(outer);
			}
		}

	}

}
