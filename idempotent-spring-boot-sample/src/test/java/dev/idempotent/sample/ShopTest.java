package dev.idempotent.sample;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;

/**
 * Runs a test class against the whole shop on its embedded servers. All such classes
 * share one shop, so each test uses its own user. None of them tests a slow Redis, as on
 * a busy machine.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "idempotent.redis.timeout=10s", "spring.data.redis.timeout=10s" })
public @interface ShopTest {

}
