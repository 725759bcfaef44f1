package dev.idempotent.autoconfigure.outbox;

import java.util.List;
import java.util.stream.Stream;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Checks that there is one recorder of the events that Spring Modulith externalizes: with
 * two, each event would be sent twice, and without one, none.
 */
final class ModulithRecordersCheck implements SmartInitializingSingleton {

	private static final String PACKAGE = "org.springframework.modulith.events.";

	private static final List<String> RECORDERS = List.of("org.springframework.context.ApplicationListener",
			PACKAGE + "core.ConditionalEventListener");

	private static final String MODE = "spring.modulith.events.externalization.mode is outbox, ";

	private final ConfigurableListableBeanFactory beanFactory;

	ModulithRecordersCheck(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public void afterSingletonsInstantiated() {
		if (!ClassUtils.isPresent(RECORDERS.get(1), this.beanFactory.getBeanClassLoader())) {
			throw new IdempotentConfigurationException(
					MODE + "and spring-modulith-events-core is not on the class path.",
					"Add org.springframework.modulith:spring-modulith-events-core, or omit the property.", null);
		}
		List<String> others = others();
		boolean own = this.beanFactory.containsBean("externalizedEventRecorder");
		if (own && !others.isEmpty()) {
			throw new IdempotentConfigurationException(MODE
					+ "and besides this library's outbox, Spring Modulith has another recorder of the same events: "
					+ String.join(", ", others) + ".",
					"Remove the dependency that provides it (spring-modulith-starter-namastack or -jobrunr, or the "
							+ "module of a broker), or leave externalization to it with idempotent.outbox.enabled=false.",
					null);
		}
		if (!own && others.isEmpty()) {
			throw new IdempotentConfigurationException(MODE + "and there is no outbox.",
					"Set idempotent.outbox.enabled=true and add spring-boot-starter-jdbc or -data-jpa with one database, "
							+ "or mark one of several DataSource beans as @Primary.",
					null);
		}
	}

	private List<String> others() {
		return Stream.of(this.beanFactory.getBeanDefinitionNames()).filter(this::isRecorderOfModulith).toList();
	}

	private boolean isRecorderOfModulith(String bean) {
		Class<?> type = this.beanFactory.getType(bean, false);
		return type != null && isOfModulith(type)
				&& ClassUtils.getAllInterfacesForClassAsSet(type)
					.stream()
					.anyMatch((each) -> RECORDERS.contains(each.getName()));
	}

	private static boolean isOfModulith(@Nullable Class<?> type) {
		return type != null && (type.getName().startsWith(PACKAGE) || isOfModulith(type.getSuperclass()));
	}

}
