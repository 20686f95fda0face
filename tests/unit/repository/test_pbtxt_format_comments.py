"""Comments in the canonical form of a config.pbtxt."""

from __future__ import annotations

from textwrap import dedent

import pytest

from fleet.repository.text_format.canonical import canonical


def formatted(text: str) -> str:
    result = canonical(dedent(text).encode())
    assert canonical(result.encode()) == result
    return result


def test_a_comment_goes_with_the_field_that_it_stands_above_or_beside() -> None:
    assert formatted(
        """
        max_batch_size: 8 # tried on 3 May

        # where it comes from
        #   (twice)
        name: "x",# as before
        output { name: "o" } # the only one
        # nothing follows
        """
    ) == dedent(
        """\
        # where it comes from
        #   (twice)
        name: "x"  # as before
        max_batch_size: 8  # tried on 3 May
        output [
          {
            name: "o"
          }
        ]  # the only one
        # nothing follows
        """
    )


def test_what_a_blank_line_parts_from_the_first_field_stays_at_the_top() -> None:
    assert formatted("# Models of the shop\n\n# fast\nplatform: 'p'\nname: 'n'\n") == (
        '# Models of the shop\n\nname: "n"\n\n# fast\nplatform: "p"\n'
    )


@pytest.mark.parametrize(
    "said", ["# Copyright 2023, NVIDIA CORPORATION", "# SPDX-License-Identifier: MIT", "# (see LICENCE)"]
)
def test_a_licence_stays_at_the_top_even_right_above_a_field(said: str) -> None:
    assert formatted(f"{said}\n# of us all\nplatform: 'p'\nname: 'n'\n") == (
        f'{said}\n# of us all\n\nname: "n"\nplatform: "p"\n'
    )


def test_a_licence_that_comes_to_the_top_with_its_field_is_parted_from_it() -> None:
    assert formatted("platform: 'p'\n# the licence of this name\nname: 'n'\n") == (
        '# the licence of this name\n\nname: "n"\nplatform: "p"\n'
    )


def test_a_file_of_comments_alone_stays() -> None:
    assert formatted("# one\n\n\n# two") == "# one\n\n# two\n"


def test_comments_in_lists_and_messages_stay_where_they_are() -> None:
    assert formatted(
        """
        # all inputs
        input [ # in the order of the graph
          # ids
          { name: "ids" # tokens
            dims: [ 1, # batch
                    -1 ] },  # both
          { # opened
            dims: [ 2, 3 ] # fixed

            # reshape: later
          }
          # { name: "mask" }
        ] # end
        """
    ) == dedent(
        """\
        # all inputs
        input [  # in the order of the graph
          # ids
          {
            name: "ids"  # tokens
            dims: [
              1,  # batch
              -1
            ]
          },  # both
          {  # opened
            dims: [ 2, 3 ]  # fixed

            # reshape: later
          }
          # { name: "mask" }
        ]  # end
        """
    )


def test_comments_between_the_parts_of_a_field_move_above_it() -> None:
    assert formatted("name # a\n : # b\n 'x' # c\n 'y' # d\n ; # e\nbackend: 'z'") == (
        '# a\n# b\n# c\nname: "xy"  # d\n# e\nbackend: "z"\n'
    )


def test_comments_of_several_lists_that_become_one_are_kept_in_their_order() -> None:
    text = "# 1\ninput { } # 2\n# 3\ninput [ # 4\n { } # 5\n # 6\n] # 7\n# 8\ninput [ # 9\n{ } # 10\n # 11\n] # 12\n"
    assert formatted(text) == dedent(
        """\
        # 1
        input [
          { },  # 2
          # 3
          # 4
          { },  # 5
          # 6
          # 7
          # 8
          # 9
          { }  # 10
          # 11
        ]  # 12
        """
    )


def test_comments_of_a_map_that_is_written_as_a_list_stand_above_and_below_its_entries() -> None:
    assert formatted("# 1\nmetric_tags [ # 2\n # 3\n { } # 4\n # 5\n] # 6\nbackend: 'x'") == dedent(
        """\
        backend: "x"
        # 1
        # 2
        # 3
        metric_tags { }  # 4
        # 5
        # 6
        """
    )
