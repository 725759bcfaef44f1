package dev.idempotent.autoconfigure.idempotency;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.IdempotentConfigurationException;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerAdapter;
import org.springframework.web.servlet.HandlerExceptionResolver;

/**
 * Checks that dispatcher servlets ask the library's handler adapter before all others,
 * which would call annotated handlers without a key, and as their first exception
 * resolver.
 */
final class FirstHandlerAdapterCheck implements SmartInitializingSingleton, ApplicationListener<ContextRefreshedEvent> {

	private static final String DETECT_ALL = "detectAllHandlerAdapters";

	private final ApplicationContext context;

	private final HandlerAdapter first;

	FirstHandlerAdapterCheck(ApplicationContext context, HandlerAdapter first) {
		this.context = context;
		this.first = first;
	}

	@Override
	public void afterSingletonsInstantiated() {
		check(this.context);
		BeanFactoryUtils.beansOfTypeIncludingAncestors(this.context, DispatcherServlet.class, true, false)
			.forEach((name, servlet) -> {
				DirectFieldAccessor fields = new DirectFieldAccessor(servlet);
				if (fields.isReadableProperty(DETECT_ALL)
						&& Boolean.FALSE.equals(fields.getPropertyValue(DETECT_ALL))) {
					throw new IdempotentConfigurationException("The dispatcher servlet '" + name
							+ "' does not detect all handler adapters, so that it would call @Idempotent handlers "
							+ "without a key.", "Do not call its method setDetectAllHandlerAdapters(false).");
				}
			});
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
		check(dispatching, HandlerAdapter.class, "The handler adapter %s comes before the one that claims idempotency "
				+ "keys, so that it could call @Idempotent handlers without a key.");
		check(dispatching, HandlerExceptionResolver.class,
				"The exception resolver %s comes before the one that notices "
						+ "failures for idempotency keys, so that work could be committed although its request has failed.");
	}

	private <T> void check(ApplicationContext dispatching, Class<T> type, String mistake) {
		List<T> inOrder = new ArrayList<>(
				BeanFactoryUtils.beansOfTypeIncludingAncestors(dispatching, type, true, false).values());
		AnnotationAwareOrderComparator.sort(inOrder);
		if (inOrder.get(0) != this.first) {
			throw new IdempotentConfigurationException(mistake.formatted(inOrder.get(0).getClass().getName()),
					"Let it implement Ordered instead of PriorityOrdered, or give it an order below the highest "
							+ "precedence.");
		}
	}

}
