package dev.idempotent.sample;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds that the tests of the profile "aot" run a shop whose beans were decided on at
 * build time.
 */
@ShopTest
@EnabledIfSystemProperty(named = "spring.aot.enabled", matches = "true")
class AotIntegrationTests {

	@Test
	void readsNoConfigurationClassesAtStartup(@Autowired ApplicationContext shop) {
		assertThat(shop.containsBean(AnnotationConfigUtils.CONFIGURATION_ANNOTATION_PROCESSOR_BEAN_NAME)).isFalse();
	}

}
