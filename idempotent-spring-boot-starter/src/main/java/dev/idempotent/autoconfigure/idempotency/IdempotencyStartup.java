package dev.idempotent.autoconfigure.idempotency;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.IdempotencyTransactionSource;
import dev.idempotent.idempotency.operation.OperationSettings;
import dev.idempotent.idempotency.web.IdempotencyWebComponents;
import dev.idempotent.idempotency.web.IdempotencyWebSettings;
import dev.idempotent.idempotency.web.IdempotentHandlerAdapter;
import dev.idempotent.idempotency.web.IdempotentHandlerMapping;
import dev.idempotent.idempotency.web.IdempotentOperations;
import dev.idempotent.token.OneTimeTokens;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.SingletonBeanRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.config.TaskManagementConfigUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerAdapter;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/**
 * Reads the annotations when all handlers are known and before the first request.
 */
final class IdempotencyStartup implements SmartInitializingSingleton {

	/**
	 * The mapping of Spring MVC. The actuator and the application may add others.
	 */
	static final String HANDLER_MAPPING = "requestMappingHandlerMapping";

	/**
	 * The beans that enable {@code @Async}.
	 */
	private static final List<String> ASYNC_BEANS = List.of(
			TaskManagementConfigUtils.ASYNC_ANNOTATION_PROCESSOR_BEAN_NAME,
			TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME);

	private final ListableBeanFactory beanFactory;

	private final IdempotentOperations operations;

	private final StartupReport report;

	private final @Nullable IdempotencyTransactionSource transactionSource;

	private final IdempotencyWebSettings settings;

	private final OperationSettings defaults;

	private final boolean tellsCallersApart;

	IdempotencyStartup(ListableBeanFactory beanFactory, IdempotentOperations operations, StartupReport report,
			@Nullable IdempotencyTransactionSource transactionSource, IdempotencyWebSettings settings,
			OperationSettings defaults, boolean tellsCallersApart) {
		this.beanFactory = beanFactory;
		this.operations = operations;
		this.report = report;
		this.transactionSource = transactionSource;
		this.settings = settings;
		this.defaults = defaults;
		this.tellsCallersApart = tellsCallersApart;
	}

	@Override
	public void afterSingletonsInstantiated() {
		// As the dispatcher servlet does.
		List<RequestMappingHandlerMapping> mappings = new ArrayList<>(BeanFactoryUtils
			.beansOfTypeIncludingAncestors(this.beanFactory, RequestMappingHandlerMapping.class, true, false)
			.values());
		AnnotationAwareOrderComparator.sort(mappings);
		List<HandlerMapping> all = BeanFactoryUtils
			.beansOfTypeIncludingAncestors(this.beanFactory, HandlerMapping.class, true, false)
			.values()
			.stream()
			.filter((mapping) -> !(mapping instanceof IdempotentHandlerMapping))
			.toList();
		this.report.addHandlers(
				this.operations.load(mappings, all, this.settings, this.defaults, this.transactionSource, this::check),
				this.settings.requiredFor());
		// Functional endpoints have paths that cannot be listed.
		if (BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, RouterFunction.class, true,
				false).length == 0) {
			RequiredForCheck.warnOfUnmatched(this.settings.requiredFor(), all,
					(name) -> this.beanFactory.getType(name));
		}
		if (this.beanFactory.getBeanProvider(OneTimeTokens.class).getIfAvailable() == null) {
			this.operations.rejectTokenKeys();
		}
		if (this.tellsCallersApart) {
			this.operations.requireCallersOfCancels();
		}
		else {
			this.operations.rejectFingerprintKeys();
		}
	}

	private void check(HandlerMethod handler) {
		rejectAsyncAdvice(handler);
		if (!IdempotencyWebComponents.canBeWatched(handler.getBeanType())) {
			rejectOtherAdapters(handler);
		}
	}

	/**
	 * Rejects a handler that no advice can watch if the adapter that will call it is not
	 * known to call it once.
	 */
	private void rejectOtherAdapters(HandlerMethod handler) {
		BeanFactoryUtils.beansOfTypeIncludingAncestors(this.beanFactory, HandlerAdapter.class, true, false)
			.values()
			.stream()
			.filter((adapter) -> !(adapter instanceof IdempotentHandlerAdapter))
			.sorted(AnnotationAwareOrderComparator.INSTANCE)
			.filter((adapter) -> adapter.supports(handler))
			.findFirst()
			.filter((adapter) -> !IdempotentHandlerAdapter.callsOnce(adapter))
			.ifPresent((adapter) -> {
				throw OperationSettings.mistake(
						IdempotentConfigurationException.describe(handler.getBeanType(), handler.getMethod()),
						"is a method of a class that cannot be proxied, such as a record, and the handler adapter "
								+ AopUtils.getTargetClass(adapter).getName()
								+ " will call it: it would not be known whether it ran",
						"Declare the controller as a class that is not final, with methods that are not final.", null);
			});
	}

	/**
	 * Rejects a handler that advice runs on another thread, also if its bean has not been
	 * created. Its invocation could not be recorded, so each key would be released and
	 * each retry would run.
	 */
	private void rejectAsyncAdvice(HandlerMethod handler) {
		if (isAdvisedAsync(handler)
				|| (isAnnotatedAsync(handler) && ASYNC_BEANS.stream().anyMatch(this.beanFactory::containsBean))) {
			throw OperationSettings.mistake(
					IdempotentConfigurationException.describe(handler.getBeanType(), handler.getMethod()),
					"runs on another thread (@Async), where its request and key are not available",
					"Remove @Async and return a CompletableFuture or a Callable from the handler, or put @Async on "
							+ "a method of a service that it calls.",
					null);
		}
	}

	private static boolean isAnnotatedAsync(HandlerMethod handler) {
		return AnnotatedElementUtils.hasAnnotation(handler.getMethod(), Async.class)
				|| AnnotatedElementUtils.hasAnnotation(handler.getBeanType(), Async.class);
	}

	/**
	 * The annotation may be a custom one.
	 */
	private boolean isAdvisedAsync(HandlerMethod handler) {
		return beanOf(handler) instanceof Advised advised
				&& Arrays.stream(advised.getAdvisors()).anyMatch((advisor) -> isAsync(advisor, handler));
	}

	private static boolean isAsync(Advisor advisor, HandlerMethod handler) {
		return advisor.getAdvice() instanceof AsyncExecutionInterceptor && advisor instanceof PointcutAdvisor pointcut
				&& pointcut.getPointcut().getMethodMatcher().matches(handler.getMethod(), handler.getBeanType());
	}

	private @Nullable Object beanOf(HandlerMethod handler) {
		if (handler.getBean() instanceof String name) {
			return (this.beanFactory instanceof SingletonBeanRegistry singletons) ? singletons.getSingleton(name)
					: null;
		}
		return handler.getBean();
	}

}
