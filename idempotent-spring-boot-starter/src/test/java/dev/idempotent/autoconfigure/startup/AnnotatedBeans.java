package dev.idempotent.autoconfigure.startup;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Proxy;

import javax.sql.DataSource;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.saga.Saga;
import dev.idempotent.stream.RedisStreamListener;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Beans with annotations that may have no effect.
 */
final class AnnotatedBeans {

	private AnnotatedBeans() {
	}

	static class Nothing {

	}

	static class Method {

		@Idempotent(key = "'key'", name = "method.run")
		void run() {
		}

	}

	@RestController
	static class Handler {

		@Idempotent
		@PostMapping("/run")
		void run() {
		}

	}

	static class Event {

		@TransactionalOutbox(type = "ran", topic = "test:events")
		String run() {
			return "ran";
		}

	}

	static class Listener {

		@RedisStreamListener(stream = "runs", group = "test")
		void run() {
		}

	}

	static class Undertaking {

		@Saga(key = "'key'", name = "Undertaking.run")
		void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Undertaking.class)
	static class NoSagaDatabase {

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Listener.class)
	static class TwoServers {

		@Bean
		RedisConnectionFactory first() {
			return new LettuceConnectionFactory();
		}

		@Bean
		RedisConnectionFactory second() {
			return new LettuceConnectionFactory();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Event.class)
	static class NoDatabase {

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Event.class)
	static class TwoDatabases {

		@Bean
		DataSource first() {
			return new DriverManagerDataSource("jdbc:h2:mem:first");
		}

		@Bean
		DataSource second() {
			return new DriverManagerDataSource("jdbc:h2:mem:second");
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@Idempotent(key = "'key'", name = "once")
	@interface Once {

	}

	static class Composed {

		@Once
		void run() {
		}

	}

	interface Job {

		@Idempotent(key = "'key'", name = "job.run")
		void run();

	}

	static class OfInterface implements Job {

		@Override
		public void run() {
		}

	}

	static class Inherited extends Method {

	}

	static class Hidden {

		@Idempotent(key = "'key'", name = "hidden.run")
		private void run() {
		}

		void call() {
			run();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ByInterface {

		@Bean
		Runnable job() {
			return new AnnotatedRunnable();
		}

	}

	static class AnnotatedRunnable implements Runnable {

		@Idempotent(key = "'key'", name = "annotated-runnable.run")
		@Override
		public void run() {
		}

	}

	@Lazy
	static class LazyBean {

		LazyBean() {
			throw new IllegalStateException("Not to be created");
		}

		@Idempotent(key = "'key'", name = "lazy-bean.run")
		void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Scoped {

		@Bean
		@Scope(scopeName = "request", proxyMode = ScopedProxyMode.TARGET_CLASS)
		Method job() {
			return new Method();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Product {

		@Bean
		FactoryBean<?> job() {
			return new Jobs();
		}

	}

	static class Jobs implements FactoryBean<Object> {

		@Override
		public Object getObject() {
			return Proxy.newProxyInstance(Job.class.getClassLoader(), new Class<?>[] { Job.class },
					(proxy, method, arguments) -> null);
		}

		@Override
		public Class<?> getObjectType() {
			return Job.class;
		}

	}

}
