package dev.idempotent.idempotency.tool;

import java.io.IOException;
import java.security.Principal;
import java.time.InstantSource;
import java.util.List;

import javax.sql.DataSource;

import dev.idempotent.test.InMemoryIdempotencyStore;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * What the tools of a test have bought.
 */
class Purchases {

	private final JdbcClient database;

	Purchases(JdbcClient database) {
		this.database = database;
		database.sql("create table purchase (id int auto_increment primary key, item varchar(100))").update();
	}

	/**
	 * Buys an item, and numbers the purchase.
	 */
	Receipt buy(String item, int amount) {
		this.database.sql("insert into purchase (item) values (?)").param(item).update();
		Integer id = this.database.sql("select max(id) from purchase").query(Integer.class).single();
		return new Receipt(id, item, amount);
	}

	List<String> items() {
		return this.database.sql("select item from purchase order by id").query(String.class).list();
	}

	record Receipt(int id, String item, int amount) {
	}

	/**
	 * A store, a database, and callers.
	 */
	@Configuration(proxyBeanMethods = false)
	@Import(Users.class)
	static class Shop {

		@Bean
		InMemoryIdempotencyStore store() {
			return new InMemoryIdempotencyStore(InstantSource.system());
		}

		@Bean
		Purchases purchases(DataSource dataSource) {
			return new Purchases(JdbcClient.create(dataSource));
		}

	}

	/**
	 * Callers by the header {@code X-User}.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Users {

		@Bean
		OncePerRequestFilter users() {
			return new OncePerRequestFilter() {

				@Override
				protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response,
						FilterChain chain) throws ServletException, IOException {
					String user = request.getHeader("X-User");
					chain.doFilter((user == null) ? request : new HttpServletRequestWrapper(request) {

						@Override
						public Principal getUserPrincipal() {
							return () -> user;
						}

					}, response);
				}

			};
		}

	}

}
