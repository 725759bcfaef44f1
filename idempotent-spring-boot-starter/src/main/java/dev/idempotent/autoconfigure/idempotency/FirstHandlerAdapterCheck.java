package dev.idempotent.autoconfigure.idempotency;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.web.IdempotentHandlerAdapter;
import dev.idempotent.idempotency.web.IdempotentHandlerMapping;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerAdapter;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.HandlerMapping;

/**
 * Checks that dispatcher servlets ask the library's handler adapter before all others,
 * which would call annotated handlers without a key, and as their first exception
 * resolver; and its handler mapping, so that its interceptor is the last one.
 */
final class FirstHandlerAdapterCheck implements SmartInitializingSingleton, ApplicationListener<ContextRefreshedEvent> {

	private final ApplicationContext context;

	private final IdempotentHandlerMapping mapping;

	private final IdempotentHandlerAdapter adapter;

	FirstHandlerAdapterCheck(ApplicationContext context, IdempotentHandlerMapping mapping,
			IdempotentHandlerAdapter adapter) {
		this.context = context;
		this.mapping = mapping;
		this.adapter = adapter;
	}

	@Override
	public void afterSingletonsInstantiated() {
		check(this.context);
		BeanFactoryUtils.beansOfTypeIncludingAncestors(this.context, DispatcherServlet.class, true, false)
			.forEach(FirstHandlerAdapterCheck::requireDetection);
		BeanFactoryUtils.beansOfTypeIncludingAncestors(this.context, ServletRegistrationBean.class, true, false)
			.forEach((name, registration) -> {
				if (registration.getServlet() instanceof DispatcherServlet servlet) {
					requireDetection(name, servlet);
				}
			});
	}

	private static void requireDetection(String name, DispatcherServlet servlet) {
		requireDetection(name, servlet, "detectAllHandlerAdapters",
				"adapters, so that it would call @Idempotent handlers without a key.", "setDetectAllHandlerAdapters");
		requireDetection(name, servlet, "detectAllHandlerMappings",
				"mappings, so that interceptors could close what the commit of an @Idempotent handler needs.",
				"setDetectAllHandlerMappings");
		requireDetection(name, servlet, "detectAllHandlerExceptionResolvers",
				"exception resolvers, so that work could be committed although its request has failed.",
				"setDetectAllHandlerExceptionResolvers");
	}

	private static void requireDetection(String name, DispatcherServlet servlet, String property, String mistake,
			String method) {
		DirectFieldAccessor fields = new DirectFieldAccessor(servlet);
		if (fields.isReadableProperty(property) && Boolean.FALSE.equals(fields.getPropertyValue(property))) {
			throw new IdempotentConfigurationException(
					"The dispatcher servlet '" + name + "' does not detect all handler " + mistake,
					"Do not call its method " + method + "(false).");
		}
	}

	/**
	 * The context of another dispatcher servlet.
	 */
	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		if (event.getApplicationContext() != this.context) {
			check(event.getApplicationContext());
		}
	}

	private void check(ApplicationContext dispatching) {
		check(dispatching, HandlerMapping.class, this.mapping,
				"The handler mapping %s comes before the one that adds the last interceptor, so that other "
						+ "interceptors could close what the commit of an @Idempotent handler needs.");
		check(dispatching, HandlerAdapter.class, this.adapter,
				"The handler adapter %s comes before the one that claims idempotency keys, so that it could call "
						+ "@Idempotent handlers without a key.");
		check(dispatching, HandlerExceptionResolver.class, this.adapter,
				"The exception resolver %s comes before the one that notices failures for idempotency keys, so "
						+ "that work could be committed although its request has failed.");
	}

	private static <T> void check(ApplicationContext dispatching, Class<T> type, T first, String mistake) {
		List<T> inOrder = new ArrayList<>(
				BeanFactoryUtils.beansOfTypeIncludingAncestors(dispatching, type, true, false).values());
		AnnotationAwareOrderComparator.sort(inOrder);
		if (inOrder.get(0) != first) {
			throw new IdempotentConfigurationException(mistake.formatted(inOrder.get(0).getClass().getName()),
					"Let it implement Ordered instead of PriorityOrdered, or give it an order below the highest "
							+ "precedence.");
		}
	}

}
