package dev.idempotent.autoconfigure.idempotency;

import java.util.Arrays;
import java.util.List;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.operation.OperationSettings;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.SingletonBeanRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.config.TaskManagementConfigUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/**
 * Rejects handlers that advice runs on another thread. Their invocation could not be
 * recorded, so each key would be released and each retry would run.
 */
final class AsyncAdvice {

	/**
	 * The beans that enable {@code @Async}.
	 */
	private static final List<String> SWITCHES = List.of(TaskManagementConfigUtils.ASYNC_ANNOTATION_PROCESSOR_BEAN_NAME,
			TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME);

	private final BeanFactory beans;

	AsyncAdvice(BeanFactory beans) {
		this.beans = beans;
	}

	/**
	 * Checks all handlers of a mapping, also those whose bean has not been created.
	 * @throws dev.idempotent.IdempotentConfigurationException if one would run on another
	 * thread
	 */
	void check(RequestMappingHandlerMapping mapping) {
		mapping.getHandlerMethods()
			.values()
			.stream()
			.filter((handler) -> handler.hasMethodAnnotation(Idempotent.class))
			.forEach(this::check);
	}

	private void check(HandlerMethod handler) {
		if (isAdvised(handler) || (isAnnotated(handler) && SWITCHES.stream().anyMatch(this.beans::containsBean))) {
			throw OperationSettings.mistake(
					IdempotentConfigurationException.describe(handler.getBeanType(), handler.getMethod()),
					"runs on another thread (@Async), where its request and key are not available",
					"Remove @Async and return a CompletableFuture or a Callable from the handler, or put @Async on "
							+ "a method of a service that it calls.",
					null);
		}
	}

	private static boolean isAnnotated(HandlerMethod handler) {
		return AnnotatedElementUtils.hasAnnotation(handler.getMethod(), Async.class)
				|| AnnotatedElementUtils.hasAnnotation(handler.getBeanType(), Async.class);
	}

	/**
	 * The annotation may be a custom one.
	 */
	private boolean isAdvised(HandlerMethod handler) {
		return beanOf(handler) instanceof Advised advised
				&& Arrays.stream(advised.getAdvisors()).anyMatch((advisor) -> isAsync(advisor, handler));
	}

	private static boolean isAsync(Advisor advisor, HandlerMethod handler) {
		return advisor.getAdvice() instanceof AsyncExecutionInterceptor && advisor instanceof PointcutAdvisor pointcut
				&& pointcut.getPointcut().getMethodMatcher().matches(handler.getMethod(), handler.getBeanType());
	}

	private @Nullable Object beanOf(HandlerMethod handler) {
		if (handler.getBean() instanceof String name) {
			return (this.beans instanceof SingletonBeanRegistry singletons) ? singletons.getSingleton(name) : null;
		}
		return handler.getBean();
	}

}
